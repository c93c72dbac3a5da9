package streamingcontext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leat-io/leat/blobstore"
)

// blobStorage is one in a blob store that drivers on several machines may use, one after the other.
//
// A driver that was stopped, and goes on when another leads, must do no harm. What it writes has names that the other never uses:
// those of blobs and checkpoint files end with the epoch, those of folders of state with a random text. What it removes nobody
// needs any more: it removes only what was there, and was not named, before a command of its own was accepted, or what its own
// checkpoint has made superfluous once the driver log has that; and it never removes a name of a newer epoch.
type blobStorage struct {
	store  blobstore.Store
	prefix string // of all names
}

const (
	// storeTimeout bounds each use of a blob store, and storeTries how often a write is tried.
	storeTimeout = 30 * time.Second
	storeTries   = 3
)

func storing() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), storeTimeout)
}

func (s blobStorage) path(name string) string { return s.prefix + name + " in " + s.store.String() }

func (s blobStorage) write(name string, data []byte) (err error) {
	ctx, cancel := storing()
	defer cancel()
	for range storeTries {
		if len(data) > blobstore.MaxData {
			err = s.store.Put(ctx, s.prefix+name, func(w io.Writer) error {
				_, err := w.Write(data)
				return err
			})
		} else {
			err = s.store.PutIfAbsent(ctx, s.prefix+name, data)
		}
		if errors.Is(err, blobstore.ErrExists) {
			return s.same(name, data)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// same checks that a name holds data: a try before may have written it.
func (s blobStorage) same(name string, data []byte) error {
	there, err := s.read(name, int64(len(data)))
	if err == nil && !bytes.Equal(there, data) {
		err = fmt.Errorf("%w: %s holds something else", ErrDamaged, s.path(name))
	}
	return err
}

func (s blobStorage) read(name string, limit int64) ([]byte, error) {
	ctx, cancel := storing()
	defer cancel()
	r, size, err := s.store.Open(ctx, s.prefix+name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if size > limit {
		return nil, fmt.Errorf("%w: %s has %d bytes", ErrDamaged, s.path(name), size)
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) != size {
		err = fmt.Errorf("%w: %s has %d bytes of %d", ErrDamaged, s.path(name), len(data), size)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.path(name), err)
	}
	return data, nil
}

func (s blobStorage) versions(name string) ([]string, error) {
	names, err := s.names(name + "-")
	if err == nil && len(names) == 0 {
		names = []string{name} // which is not there, and is what the error names
	}
	slices.Reverse(names)
	return names, err
}

// names returns all names that begin with prefix.
func (s blobStorage) names(prefix string) (names []string, err error) {
	ctx, cancel := storing()
	defer cancel()
	for info, err := range blobstore.All(ctx, s.store, s.prefix+prefix, "") {
		if err != nil {
			return nil, err
		}
		names = append(names, strings.TrimPrefix(info.Name, s.prefix))
	}
	return names, nil
}

func (s blobStorage) files(folder string) (files []string, err error) {
	names, err := s.names(folder + "/")
	for _, name := range names {
		if name = name[len(folder)+1:]; !strings.Contains(name, "/") {
			files = append(files, name)
		}
	}
	return files, err
}

func (s blobStorage) folders() (folders []string, err error) {
	names, err := s.names("")
	for _, name := range names {
		if folder, _, in := strings.Cut(name, "/"); in {
			folders = append(folders, folder)
		}
	}
	return slices.Compact(folders), err
}

func (s blobStorage) remove(names ...string) error {
	ctx, cancel := storing()
	defer cancel()
	full := make([]string, len(names))
	for i, name := range names {
		full[i] = s.prefix + name
	}
	return s.store.Remove(ctx, full...)
}

func (s blobStorage) removeFolder(name string) error {
	ctx, cancel := storing()
	defer cancel()
	return blobstore.RemoveAll(ctx, s.store, s.prefix+name+"/")
}

func (s blobStorage) has(folder string) bool {
	ctx, cancel := storing()
	defer cancel()
	page, err := s.store.List(ctx, s.prefix+folder+"/", "", 1)
	return err == nil && len(page) > 0
}

// epochOf returns the epoch at the end of a name, false if there is none.
func epochOf(name string) (uint64, bool) {
	epoch, err := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	return epoch, err == nil
}

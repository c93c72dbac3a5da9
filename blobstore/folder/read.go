package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/leat-io/leat/blobstore"
)

// Open returns a reader of a blob.
//
// Errors: as blobstore.Store says.
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, int64, error) {
	r, size, err := s.open(ctx, name)
	if err != nil {
		return nil, 0, failed("open", name, err)
	}
	return &reader{ctx, r}, size, nil
}

// A reader is a file that gives nothing more once a context has ended.
type reader struct {
	ctx context.Context
	io.ReadCloser
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReadCloser.Read(p)
}

func (s *Store) open(ctx context.Context, name string) (io.ReadCloser, int64, error) {
	_, path, err := s.path(name)
	if err != nil {
		return nil, 0, err
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	r, size, err := s.fs.Open(path)
	if err != nil && absent(err) && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return r, size, err
}

// absent reports whether err says that there is no such file, or that a folder of it is a file.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// Read returns a blob and its tag.
//
// Cost: a digest of it.
// Errors: as blobstore.Store says.
func (s *Store) Read(ctx context.Context, name string) ([]byte, blobstore.Tag, error) {
	data, err := s.read(ctx, name)
	if err != nil {
		return nil, "", failed("read", name, err)
	}
	return data, tagOf(data), nil
}

func (s *Store) read(ctx context.Context, name string) ([]byte, error) {
	r, size, err := s.open(ctx, name)
	if err != nil {
		return nil, err
	}
	if size > blobstore.MaxData {
		return nil, errors.Join(fmt.Errorf("%w: %d bytes", blobstore.ErrTooLarge, size), r.Close())
	}
	data := make([]byte, size)
	_, err = io.ReadFull(r, data)
	return data, errors.Join(err, r.Close())
}

// List returns blobs in the order of their names. Without a limit it returns all that there are.
//
// Cost: the folder that the prefix names and all below it are read whole, whatever the limit.
// Errors: as blobstore.Store says.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]blobstore.Info, error) {
	dir, name := s.dir, ""
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		name = prefix[:i+1]
		if blobstore.CheckName(prefix[:i]) != nil {
			return nil, failed("list", prefix, ctx.Err()) // nothing has such a name
		}
		for element := range strings.SplitSeq(prefix[:i], "/") {
			dir = filepath.Join(dir, fileName(element))
		}
	}
	w := &walk{ctx: ctx, fs: s.fs, prefix: prefix, after: after}
	if err := w.folder(dir, name); err != nil {
		return nil, failed("list", prefix, err)
	}
	slices.SortFunc(w.found, func(a, b blobstore.Info) int { return strings.Compare(a.Name, b.Name) })
	if limit > 0 && len(w.found) > limit {
		w.found = slices.Clone(w.found[:limit])
	}
	return w.found, nil
}

// A walk collects the blobs of a listing.
type walk struct {
	ctx           context.Context // of the call
	fs            FS
	prefix, after string
	found         []blobstore.Info
}

// folder collects what is in dir, whose blobs have names that begin with name.
func (w *walk) folder(dir, name string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := w.fs.ReadDir(dir)
	if err != nil && absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		element, ok := elementOf(e.Name())
		if !ok || blobstore.CheckName(name+element) != nil {
			continue // not one of ours
		}
		full := name + element
		switch {
		case e.IsDir():
			// What is below begins with full and a slash: it can have the prefix if one of the two begins with the other.
			if below := full + "/"; strings.HasPrefix(below, w.prefix) || strings.HasPrefix(w.prefix, below) {
				if err := w.folder(filepath.Join(dir, e.Name()), below); err != nil {
					return err
				}
			}
		case strings.HasPrefix(full, w.prefix) && full > w.after:
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			}
			if err != nil {
				return err
			}
			if info.Mode().IsRegular() {
				w.found = append(w.found, blobstore.Info{Name: full, Size: info.Size()})
			}
		}
	}
	return nil
}

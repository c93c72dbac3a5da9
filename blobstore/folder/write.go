package folder

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/blobstore"
)

// bufferSize is that of the buffer in front of a file.
const bufferSize = 64 << 10

// Put makes name hold what write writes.
//
// Cost: a file that is synced, a rename, a sync of its folder.
// Errors: as blobstore.Store says.
func (s *Store) Put(ctx context.Context, name string, write func(w io.Writer) error) error {
	return failed("put", name, s.write(ctx, name, write, s.rename))
}

// PutIfAbsent makes name hold data unless it holds anything.
//
// Cost: a file that is synced, a link, a sync of its folder; the last alone if the name is taken.
// Errors: as blobstore.Store says.
func (s *Store) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	const op = "put if absent"
	if err := blobstore.CheckData(op, name, data); err != nil {
		return err
	}
	return failed(op, name, s.create(ctx, name, data))
}

func (s *Store) create(ctx context.Context, name string, data []byte) error {
	if err := s.writable(); err != nil {
		return err
	}
	dir, path, err := s.path(name)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if info, err := s.fs.Stat(path); err == nil {
		return s.taken(dir, path, info)
	}
	return s.write(ctx, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}, s.link)
}

// taken returns the error of a name that is to be created and is there. What the caller learns of it must last.
func (s *Store) taken(dir, path string, info fs.FileInfo) error {
	if info.IsDir() {
		return fmt.Errorf("%s is a folder of other blobs", path)
	}
	if err := s.syncUp(dir); err != nil {
		return err
	}
	return blobstore.ErrExists
}

// CompareAndSwap makes name hold data if its tag, which is a digest of what it holds, is old.
//
// Cost: that of Read and Put, one at a time for the whole store.
// Errors: as blobstore.Store says.
func (s *Store) CompareAndSwap(ctx context.Context, name string, old blobstore.Tag, data []byte) (blobstore.Tag, error) {
	const op = "compare and swap"
	if err := blobstore.CheckData(op, name, data); err != nil {
		return "", err
	}
	if err := s.swap(ctx, name, old, data); err != nil {
		return "", failed(op, name, err)
	}
	return tagOf(data), nil
}

func (s *Store) swap(ctx context.Context, name string, old blobstore.Tag, data []byte) error {
	if _, _, err := s.path(name); err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if old == blobstore.Absent {
		if err := s.create(ctx, name, data); !errors.Is(err, blobstore.ErrExists) {
			return err
		}
		return blobstore.ErrChanged
	}
	now, err := s.read(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it holds nothing", blobstore.ErrChanged)
	}
	if err != nil {
		return err
	}
	if tagOf(now) != old {
		return blobstore.ErrChanged
	}
	return s.write(ctx, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}, s.rename)
}

func tagOf(data []byte) blobstore.Tag {
	sum := sha256.Sum256(data)
	return blobstore.Tag(hex.EncodeToString(sum[:]))
}

// write writes a file of another name, makes it durable, and lets place give it its own.
func (s *Store) write(ctx context.Context, name string, write func(w io.Writer) error, place func(tmp, dir, path string) error) error {
	if err := s.writable(); err != nil {
		return err
	}
	dir, path, err := s.path(name)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	tmp := s.temporary()
	f, err := s.fs.Create(tmp)
	if err != nil {
		return err
	}
	defer func() { _ = s.fs.Remove(tmp) }() // what is left of it only takes room
	buf := bufio.NewWriterSize(&writer{ctx, f}, bufferSize)
	if err = write(buf); err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// Another process may remove a folder that is empty just before the name comes into it.
	for range attempts {
		if err = s.mkdirAll(dir); err == nil {
			err = place(tmp, dir, path)
		}
		if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, blobstore.ErrUnknown) {
			break
		}
	}
	return err
}

// attempts is how often a folder that goes away is made again.
const attempts = 10

// A writer is a file that takes nothing more once a context has ended.
type writer struct {
	ctx context.Context
	io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// rename gives a file its name, in place of another file.
func (s *Store) rename(tmp, dir, path string) error {
	if err := s.fs.Rename(tmp, path); err != nil {
		return err
	}
	return s.placed(dir)
}

// link gives a file its name if that is free.
func (s *Store) link(tmp, dir, path string) error {
	err := s.fs.Link(tmp, path)
	if errors.Is(err, fs.ErrExist) {
		info, serr := s.fs.Stat(path)
		if serr != nil {
			return fmt.Errorf("%s was there, and then: %w", path, serr) // tried again if it has been removed
		}
		// On a network a link may be asked for twice, because the first answer was lost.
		own, serr := s.fs.Stat(tmp)
		if serr != nil || !os.SameFile(own, info) {
			return s.taken(dir, path, info)
		}
		err = nil
	}
	if err != nil {
		return err
	}
	return s.placed(dir)
}

// placed makes a name durable that has been given.
func (s *Store) placed(dir string) error {
	if err := s.syncUp(dir); err != nil {
		return fmt.Errorf("%w: %w", blobstore.ErrUnknown, err)
	}
	return nil
}

// Remove removes blobs, and folders that become empty.
//
// Cost: a call for each, and a sync of each folder.
// Errors: as blobstore.Store says.
func (s *Store) Remove(ctx context.Context, names ...string) error {
	for _, name := range names {
		if _, _, err := s.path(name); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	// Without the lock: whoever goes on in the place of a process that was stopped while it removed has the same to remove.
	if err := errors.Join(s.writable(), ctx.Err()); err != nil {
		return failed("remove", names[0], err)
	}
	var dirs []string // that had one of the names, each once in a row
	for _, name := range names {
		dir, path, _ := s.path(name)
		err := s.fs.Remove(path)
		if err == nil && (len(dirs) == 0 || dirs[len(dirs)-1] != dir) {
			dirs = append(dirs, dir)
		}
		if err != nil && !absent(err) {
			if info, serr := s.fs.Stat(path); serr != nil || !info.IsDir() {
				return failed("remove", name, err)
			}
		}
	}
	for _, dir := range dirs {
		if err := s.prune(dir); err != nil {
			return failed("remove", names[0], err)
		}
	}
	return nil
}

// prune removes a folder, and those above it, if they are empty, and makes durable what was removed in the first that is not.
func (s *Store) prune(dir string) error {
	for ; dir != s.dir; dir = filepath.Dir(dir) {
		if err := s.fs.Remove(dir); err != nil && !absent(err) {
			break // it holds something, as a rule
		}
	}
	err := s.fs.SyncDir(dir)
	if absent(err) {
		return nil // somebody else has removed it meanwhile
	}
	return err
}

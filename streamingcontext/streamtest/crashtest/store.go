package crashtest

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/dstream/sink/files"
)

// FS returns the disk of the world as the file system of file sinks, for files.Options.FS. Its calls are points: "disk", the call and the name of the file
// without numbers.
func (w *World) FS() files.FS { return worldFS{w.current()} }

// Store returns a blob store on the disk of the world. Its calls are points, "store", the call and the name without numbers, and so are those
// of the folder that it is, on the disk.
//
// Errors: those of folder.Open.
func (w *World) Store() (blobstore.Store, error) {
	p := w.current()
	locked := Keep(w, "store lock", func() *sync.Mutex { return new(sync.Mutex) })
	s, err := folder.Open("/store", folder.Options{FS: storeFS{worldFS{p}, locked}})
	if err != nil {
		return nil, err
	}
	return &worldStore{s, p}, nil
}

// worldFS is the disk as a process sees it.
type worldFS struct{ p *process }

func (d worldFS) step(call, name string, effect func() error) error {
	return d.p.step("disk "+call+" "+plain(filepath.Base(name)), effect)
}

func (d worldFS) Mkdir(name string) error {
	return d.step("mkdir", name, func() error { return d.p.disk.Mkdir(name) })
}

func (d worldFS) Create(name string) (f files.File, err error) {
	if err := d.step("create", name, func() error {
		f, err = d.p.disk.Create(name)
		return err
	}); err != nil {
		return nil, err
	}
	return &worldFile{d, name, f}, nil
}

// Open, Stat and ReadDir change nothing, so they are no points: a process that dies there dies as well at the next one.

func (d worldFS) Open(name string) (io.ReadCloser, error)    { return d.p.disk.Open(name) }
func (d worldFS) Stat(name string) (fs.FileInfo, error)      { return d.p.disk.Stat(name) }
func (d worldFS) ReadDir(name string) ([]fs.DirEntry, error) { return d.p.disk.ReadDir(name) }

func (d worldFS) Link(oldname, newname string) error {
	return d.step("link", newname, func() error { return d.p.disk.Link(oldname, newname) })
}

func (d worldFS) Rename(oldname, newname string) error {
	return d.step("rename", newname, func() error { return d.p.disk.Rename(oldname, newname) })
}

func (d worldFS) Remove(name string) error {
	return d.step("remove", name, func() error { return d.p.disk.Remove(name) })
}

func (d worldFS) SyncDir(name string) error {
	return d.step("syncdir", name, func() error { return d.p.disk.SyncDir(name) })
}

type worldFile struct {
	fs   worldFS
	name string
	f    files.File
}

func (f *worldFile) Write(p []byte) (n int, err error) {
	err = f.fs.step("write", f.name, func() error {
		n, err = f.f.Write(p)
		return err
	})
	return n, err
}

func (f *worldFile) Sync() error { return f.fs.step("sync", f.name, f.f.Sync) }

func (f *worldFile) Close() error { return f.f.Close() }

// storeFS is worldFS with what a folder of blobs needs besides.
type storeFS struct {
	worldFS
	locked *sync.Mutex
}

func (d storeFS) Create(name string) (folder.File, error) { return d.worldFS.Create(name) }

func (d storeFS) Open(name string) (io.ReadCloser, int64, error) {
	f, err := d.worldFS.Open(name)
	if err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(f)
	return io.NopCloser(strings.NewReader(string(data))), int64(len(data)), err
}

func (d storeFS) Lock(ctx context.Context, _ string) (io.Closer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.locked.Lock()
	return unlock{d.locked}, nil
}

type unlock struct{ mu *sync.Mutex }

func (u unlock) Close() error {
	u.mu.Unlock()
	return nil
}

// worldStore is a store as a process sees it.
type worldStore struct {
	blobstore.Store
	p *process
}

// write is a call that changes something. Where it seems to fail it says that the outcome is not known.
func (s *worldStore) write(call, name string, effect func() error) error {
	had := false
	err := s.p.step("store "+call+" "+plain(name), func() error {
		had = true
		return effect()
	})
	if err == nil || !isInjected(err) {
		return err
	}
	if had {
		err = fmt.Errorf("%w: %w", blobstore.ErrUnknown, err)
	}
	return &blobstore.Error{Op: call, Name: name, Err: err}
}

func (s *worldStore) Put(ctx context.Context, name string, write func(w io.Writer) error) error {
	return s.write("put", name, func() error { return s.Store.Put(ctx, name, write) })
}

func (s *worldStore) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	return s.write("create", name, func() error { return s.Store.PutIfAbsent(ctx, name, data) })
}

func (s *worldStore) CompareAndSwap(ctx context.Context, name string, old blobstore.Tag, data []byte) (tag blobstore.Tag, err error) {
	err = s.write("swap", name, func() error {
		tag, err = s.Store.CompareAndSwap(ctx, name, old, data)
		return err
	})
	return tag, err
}

func (s *worldStore) Remove(ctx context.Context, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	return s.write("remove", names[0], func() error { return s.Store.Remove(ctx, names...) })
}

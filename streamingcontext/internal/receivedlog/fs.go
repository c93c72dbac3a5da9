package receivedlog

import (
	"io"
	"os"
)

// FS is what a Log asks of a file system. Methods are called from several goroutines.
type FS interface {
	// MkdirAll makes a folder and those above it, if they are not there.
	MkdirAll(dir string) error
	// List returns the names in a folder, in any order.
	List(dir string) ([]string, error)
	// Create makes a file that is empty and can be written. One that has the name is replaced.
	Create(path string) (File, error)
	// Open opens a file for reading.
	Open(path string) (File, error)
	// Edit opens a file for reading and writing.
	Edit(path string) (File, error)
	// Remove removes a file. It wraps fs.ErrNotExist for one that is not there.
	Remove(path string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
}

// A File is an open file of a FS.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Sync makes what was written durable, with the size.
	Sync() error
}

type systemFS struct{}

func (systemFS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o755) }

func (systemFS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (systemFS) Create(path string) (File, error) {
	return opened(os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644))
}

func (systemFS) Open(path string) (File, error) { return opened(os.Open(path)) }

func (systemFS) Edit(path string) (File, error) { return opened(os.OpenFile(path, os.O_RDWR, 0)) }

func (systemFS) Remove(path string) error { return os.Remove(path) }

func (systemFS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	_ = d.Close() // nothing was written through it
	return err
}

type systemFile struct{ *os.File }

func opened(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return systemFile{f}, nil
}

func (f systemFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f systemFile) Sync() error { return dataSync(f.File) }

package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// A File is a file that is being written.
type File = interface {
	io.Writer
	// Sync returns when what was written would survive a power cut.
	Sync() error
	Close() error
}

// An FS is the file system calls that a Store makes. Names are paths as package os takes them; errors match fs.ErrExist and
// fs.ErrNotExist where those apply.
type FS interface {
	// Mkdir creates a folder in one that is there.
	Mkdir(name string) error
	// Create creates a file that must not be there.
	Create(name string) (File, error)
	// Open reads a file, and says how long it is.
	Open(name string) (io.ReadCloser, int64, error)
	Stat(name string) (fs.FileInfo, error)
	// ReadDir returns what a folder holds.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Link gives a file a second name, which must not be there.
	Link(oldname, newname string) error
	// Rename moves a file, over another if there is one.
	Rename(oldname, newname string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// SyncDir returns when the names in a folder would survive a power cut.
	SyncDir(name string) error
	// Lock waits for the lock of this name, which one process and one caller has at a time, and holds it until Close.
	Lock(ctx context.Context, name string) (io.Closer, error)
}

// OS is the file system of the operating system.
type OS struct{}

// Mkdir creates a folder.
func (OS) Mkdir(name string) error { return os.Mkdir(name, 0o777) }

// Create creates a file that must not be there.
func (OS) Create(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Open reads a file.
func (OS) Open(name string) (io.ReadCloser, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// Stat describes a file.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// ReadDir lists a folder.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Link makes a hard link.
func (OS) Link(oldname, newname string) error { return os.Link(oldname, newname) }

// Rename moves a file.
func (OS) Rename(oldname, newname string) error { return os.Rename(oldname, newname) }

// Remove removes a file or an empty folder.
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir syncs a folder, where the system can. Windows has no such call; NTFS keeps the order of names in its journal.
func (OS) SyncDir(name string) error { return syncDir(name) }

// lockRetry is the time between two attempts to take a lock.
const lockRetry = 2 * time.Millisecond

// Lock locks a file, which is made and stays.
func (OS) Lock(ctx context.Context, name string) (io.Closer, error) {
	l := flock.New(name, flock.SetPermissions(0o666))
	if _, err := l.TryLockContext(ctx, lockRetry); err != nil {
		return nil, err
	}
	return l, nil
}

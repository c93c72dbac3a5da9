package files

import (
	"io"
	"io/fs"
	"os"
)

// A File is a file that is being written.
type File = interface {
	io.Writer
	// Sync returns when what was written would survive a power cut.
	Sync() error
	Close() error
}

// An FS is the file system calls that a sink makes. Names are paths as package os takes them; errors match fs.ErrExist and
// fs.ErrNotExist where those apply. Package disk of sinktest has one whose power can be cut.
type FS interface {
	// Mkdir creates a folder in one that is there.
	Mkdir(name string) error
	// Create creates a file that must not be there.
	Create(name string) (File, error)
	// Open reads a file.
	Open(name string) (io.ReadCloser, error)
	Stat(name string) (fs.FileInfo, error)
	// ReadDir returns what a folder holds, by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Link gives a file a second name, which must not be there.
	Link(oldname, newname string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// SyncDir returns when the names in a folder would survive a power cut.
	SyncDir(name string) error
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
func (OS) Open(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stat describes a file.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// ReadDir lists a folder.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Link makes a hard link.
func (OS) Link(oldname, newname string) error { return os.Link(oldname, newname) }

// Remove removes a file or an empty folder.
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir syncs a folder, where the system can. Windows has no such call; NTFS keeps the order of names in its journal.
func (OS) SyncDir(name string) error { return syncDir(name) }

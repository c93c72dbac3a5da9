package streamingcontext

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// storage is where a context keeps, beside the driver log, what recovery needs: files, whose names have at most one slash in them.
type storage interface {
	// write makes name hold data, durably and whole. What has the name already is the same.
	write(name string, data []byte) error
	// read returns what a name holds. ErrDamaged if that is longer than limit.
	read(name string, limit int64) ([]byte, error)
	// versions returns the names under which write was told to write a name that is shared by several terms.
	versions(name string) ([]string, error)
	// files returns the names in a folder, in order and without that of the folder, and folders those of the folders in the storage.
	files(folder string) ([]string, error)
	folders() ([]string, error)
	// remove removes files, and removeFolder a folder; what is not there is no error.
	remove(names ...string) error
	removeFolder(name string) error
	// has reports whether there is a folder.
	has(folder string) bool
	// path is what errors call a name.
	path(name string) string
}

// folderStorage is one on disk.
type folderStorage struct{ dir string }

func (s folderStorage) path(name string) string {
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

func (s folderStorage) write(name string, data []byte) error { return writeDurable(s.path(name), data) }

func (s folderStorage) read(name string, limit int64) ([]byte, error) {
	return readBounded(s.path(name), limit)
}

func (s folderStorage) versions(name string) ([]string, error) { return []string{name}, nil }

func (s folderStorage) files(folder string) (names []string, err error) {
	entries, err := os.ReadDir(s.path(folder))
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (s folderStorage) folders() (names []string, err error) {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (s folderStorage) remove(names ...string) error {
	var errs []error
	for _, name := range names {
		if err := os.Remove(s.path(name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (s folderStorage) removeFolder(name string) error { return os.RemoveAll(s.path(name)) }

func (s folderStorage) has(folder string) bool {
	_, err := os.Stat(s.path(folder))
	return err == nil
}

// writeDurable makes a file of data that is there whole or not at all, and stays when the machine loses power.
func writeDurable(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, temporaryPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // what is left of it is only room taken
		}
	}()
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(dir)
}

// temporaryPrefix begins the names of files that are not whole yet.
const temporaryPrefix = "_temporary-"

// syncFolder makes durable which names a folder has.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, os.ErrInvalid) {
		err = nil // the system has no such thing, as Windows
	}
	return errors.Join(err, f.Close())
}

// readBounded returns a file's bytes.
//
// Errors: ErrDamaged if there are more than limit.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %s has %d bytes", ErrDamaged, path, info.Size())
	}
	return os.ReadFile(path)
}

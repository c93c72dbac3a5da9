package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"github.com/leat-io/leat/scheduler"
)

// A folder is where the files of a running cluster are: a folder of its own in Options.Dir, made when
// the first file is. As long as the cluster runs it holds a lock in it, which ends with the process: so
// another one can tell what a killed process has left. mu guards what follows it.
type folder struct {
	dir string

	mu     sync.Mutex
	path   string
	lock   *flock.Flock
	closed bool
	trash  []string      // files nobody needs
	sweep  chan struct{} // holds one token while there may be trash
}

const (
	folderPattern = "leat-"
	lockName      = "leat.lock"
)

func newFolder(dir string) *folder {
	if dir == "" {
		dir = os.TempDir()
	}
	return &folder{dir: dir, sweep: make(chan struct{}, 1)}
}

// executor makes the folder of one executor.
func (f *folder) executor(id scheduler.ExecutorID) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return "", errStopped
	}
	if f.path == "" {
		if err := f.make(); err != nil {
			return "", fmt.Errorf("make folder in %s: %w", f.dir, err)
		}
	}
	path := filepath.Join(f.path, string(id))
	return path, os.Mkdir(path, 0o700)
}

// make makes the folder and takes its lock. mu is held. Between the two another process may find the
// folder without an owner and remove it: then this one makes another.
func (f *folder) make() error {
	for range 10 {
		path, err := os.MkdirTemp(f.dir, folderPattern)
		if err != nil {
			return err
		}
		lock := flock.New(filepath.Join(path, lockName))
		ours, err := lock.TryLock()
		if ours && sameFile(lock) {
			f.path, f.lock = path, lock
			return nil
		}
		_ = lock.Close()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return errors.Join(err, os.RemoveAll(path))
		}
	}
	return errors.New("every new folder was taken away")
}

// sameFile reports whether a lock is still on the file that is there now.
func sameFile(lock *flock.Flock) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(held, there)
}

// clean removes the folders in dir whose processes are gone, and returns how many.
func clean(dir string) (removed int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0 // whoever needs the folder will say so
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), folderPattern) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		lock := flock.New(filepath.Join(path, lockName), flock.SetFlag(os.O_RDWR)) // not made: others' folders have none
		if free, err := lock.TryLock(); err == nil && free {
			if os.RemoveAll(path) == nil {
				removed++
			}
		}
		_ = lock.Close()
	}
	return removed
}

// discard has files removed by and by: who does not need them any more may not wait for that.
func (f *folder) discard(paths ...string) {
	f.mu.Lock()
	f.trash = append(f.trash, paths...)
	f.mu.Unlock()
	select {
	case f.sweep <- struct{}{}:
	default:
	}
}

// empty removes what was discarded.
func (f *folder) empty() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, path := range f.trash {
		_ = os.Remove(path) // what stays goes with the folder
	}
	f.trash = nil
}

// files returns the files there are, in order.
func (f *folder) files() []string {
	f.empty()
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []string
	if f.path == "" {
		return nil
	}
	_ = filepath.WalkDir(f.path, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != lockName {
			found = append(found, path)
		}
		return nil // what vanishes meanwhile is not there
	})
	sort.Strings(found)
	return found
}

// close removes the folder.
func (f *folder) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed, f.trash = true, nil
	if f.path == "" {
		return nil
	}
	// The lock goes last: until then nobody else touches the folder.
	path := f.path
	f.path = ""
	err := os.RemoveAll(path)
	unlock := f.lock.Close()
	if err != nil { // where an open file cannot be removed
		err = os.RemoveAll(path)
	}
	return errors.Join(err, unlock)
}

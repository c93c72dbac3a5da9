package streamingcontext

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
)

// CloneCheckpoint makes folder to a copy of dir, which GetOrCreate was given: the driver log, checkpoints, state and received
// blocks. A context goes on from the copy as it would from dir, and neither knows of the other.
//
// The copy is complete, or not there: it is made beside to under a name that begins with "_temporary-", flushed, checked as by
// VerifyCheckpoint, and renamed. to must be empty or not there.
//
// Both go on with the same epochs and the same batches, so they must not write to the same outputs: give the copy copies of them.
// To go on with new and empty outputs use RewindCheckpoint.
//
// Cost: reads and writes all of the folder.
// Errors: *boltlog.LockedError naming the process that has dir open; an error that is fs.ErrExist if to holds anything; what
// VerifyCheckpoint finds wrong; an error that is fs.ErrNotExist where the driver log is not in the folder.
func CloneCheckpoint(dir, to string) (CheckpointReport, error) {
	var r CheckpointReport
	err := held(dir, func() (err error) {
		r, err = copyCheckpoint(dir, to, nil)
		return err
	})
	if err != nil {
		return r, fmt.Errorf("clone checkpoint %s: %w", dir, err)
	}
	return r, nil
}

// held calls f while no context can open the folder.
func held(dir string, f func() error) error {
	release, err := boltlog.Hold(filepath.Join(dir, "driver.db"))
	if err != nil {
		return err
	}
	return errors.Join(f(), release())
}

// copyCheckpoint makes to a copy of dir, after change, if it is not nil, has done to the copy what it is to differ in.
func copyCheckpoint(dir, to string, change func(copied string) error) (r CheckpointReport, err error) {
	dir, to = filepath.Clean(dir), filepath.Clean(to)
	if err := vacant(dir, to); err != nil {
		return r, err
	}
	parent := filepath.Dir(to)
	copied, err := os.MkdirTemp(parent, temporaryPrefix+filepath.Base(to)+"-*")
	if err != nil {
		return r, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(copied) // it is only room taken
		}
	}()
	if err := os.Chmod(copied, 0o755); err != nil {
		return r, err
	}
	for _, name := range []string{"driver.db", "driver.db.tail"} {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(copied, name)); err != nil && (name == "driver.db" || !errors.Is(err, fs.ErrNotExist)) {
			return r, err
		}
	}
	for _, name := range []string{"checkpoints", "state", "received"} {
		if err := copyFolder(filepath.Join(dir, name), filepath.Join(copied, name)); err != nil {
			return r, err
		}
	}
	if change != nil {
		if err := change(copied); err != nil {
			return r, err
		}
	}
	if r, err = VerifyCheckpoint(copied); err != nil {
		return r, err
	}
	if err := syncFolder(copied); err != nil {
		return r, err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty folder; not all systems rename over it
		return r, err
	}
	if err := os.Rename(copied, to); err != nil {
		return r, err
	}
	return r, syncFolder(parent)
}

// vacant returns why a folder cannot be made at to, if it cannot.
func vacant(dir, to string) error {
	from, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	at, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	if in, err := filepath.Rel(from, at); err == nil && filepath.IsLocal(in) {
		return fmt.Errorf("%s is within the folder itself: %w", to, fs.ErrInvalid)
	}
	entries, err := os.ReadDir(to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = &fs.PathError{Op: "make", Path: to, Err: fs.ErrExist}
	}
	return err
}

// copyFolder copies a folder that holds files and folders, durably. What other processes have left half written stays behind.
func copyFolder(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporaryPrefix) {
			continue
		}
		src, dst := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if e.IsDir() {
			err = copyFolder(src, dst)
		} else {
			err = copyFile(src, dst)
		}
		if err != nil {
			return err
		}
	}
	return syncFolder(to)
}

// copyFile copies a regular file, durably.
func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", from)
	}
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(dst, src)
	if err == nil && n != info.Size() {
		err = fmt.Errorf("%s had %d bytes, then %d", from, info.Size(), n)
	}
	if err == nil {
		err = dst.Sync()
	}
	return errors.Join(err, dst.Close())
}

// exchange puts a folder in the place of dir, which is kept beside under a name that is returned.
func exchange(dir, by string) (old string, err error) {
	old = dir + ".before-rewind"
	for i := 2; ; i++ {
		if _, err := os.Lstat(old); errors.Is(err, fs.ErrNotExist) {
			break
		}
		old = fmt.Sprintf("%s.before-rewind-%d", dir, i)
	}
	if err := os.Rename(dir, old); err != nil {
		return "", err
	}
	if err := os.Rename(by, dir); err != nil {
		return "", errors.Join(err, os.Rename(old, dir))
	}
	return old, syncFolder(filepath.Dir(dir))
}

// locksMove reports whether a folder can be renamed while a file in it is locked.
func locksMove() bool { return runtime.GOOS != "windows" }

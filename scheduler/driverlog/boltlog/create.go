package boltlog

import (
	"errors"
	"fmt"
	"os"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/internal/filelock"
)

// Create makes a log at path that begins with a state, as after a snapshot of it, and closes it. Nothing may be there.
//
// Errors: as Open; an error that is os.ErrExist.
func Create(path string, state driverlog.State) (err error) {
	for _, name := range []string{path, tailPath(path)} {
		if _, err := os.Lstat(name); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("create driver log: %w", &os.PathError{Op: "create", Path: name, Err: os.ErrExist})
		}
	}
	lock, err := filelock.Take(path+lockSuffix, path, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	s, _, _, err := openStore(path)
	if err != nil {
		return err
	}
	if err := s.replace(&state); err != nil {
		return errors.Join(fmt.Errorf("create driver log %s: %w", path, err), s.close())
	}
	return s.close()
}

// Hold keeps others from opening the log at path until release is called, so that its files can be copied or moved. The file must be
// there; it is not read.
//
// Errors: *LockedError naming the owner; an error that is os.ErrNotExist.
func Hold(path string) (release func() error, err error) {
	path = resolve(path)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("driver log: %w", err)
	}
	lock, err := filelock.Take(path+lockSuffix, path, 0)
	if err != nil {
		return nil, err
	}
	return lock.Release, nil
}

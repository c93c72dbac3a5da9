package raftlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// A Holder is the owner of a node's folder, as its lock file names it.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Command string    `json:"command"` // base name of the program
	Since   time.Time `json:"since"`   // when it opened the log
}

const (
	maxHolder = 4096                  // bytes read of a lock file
	lockRetry = 10 * time.Millisecond // between attempts to take a lock
)

// A dirLock is the lock of a folder, held. The kernel releases it with the process, so what the file says counts only while
// somebody holds it.
type dirLock struct {
	lock *flock.Flock
	path string
}

// lockDir takes the lock of a folder.
//
// Errors: *LockedError after timeout.
func lockDir(dir string, timeout time.Duration) (*dirLock, error) {
	l := &dirLock{path: filepath.Join(dir, "lock")}
	l.lock = flock.New(l.path, flock.SetPermissions(0o644))
	ok, err := l.lock.TryLock()
	if err == nil && !ok && timeout > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		ok, err = l.lock.TryLockContext(ctx, lockRetry)
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("lock driver log %s: %w", dir, err)
	}
	if !ok {
		return nil, &LockedError{Path: dir, Holder: readHolder(l.path)}
	}
	if err := l.sign(); err != nil {
		_ = l.lock.Unlock() // the error that counts is the first
		return nil, fmt.Errorf("lock driver log %s: %w", dir, err)
	}
	return l, nil
}

// sign writes who holds the lock, as a line for people and programs.
func (l *dirLock) sign() error {
	h := Holder{PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second)}
	h.Host, _ = os.Hostname() // empty where there is none
	if len(os.Args) > 0 {
		h.Command = filepath.Base(os.Args[0])
	}
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return os.WriteFile(l.path, append(line, '\n'), 0o644)
}

// release gives the lock up. The file stays: to remove it would let two owners hold two files of one name.
func (l *dirLock) release() error {
	return errors.Join(os.Truncate(l.path, 0), l.lock.Unlock())
}

// readHolder returns who holds the lock file at path, as far as it has been signed.
func readHolder(path string) Holder {
	var h Holder
	if data, err := os.ReadFile(path); err != nil || len(data) > maxHolder || json.Unmarshal(data, &h) != nil {
		return Holder{}
	}
	return h
}

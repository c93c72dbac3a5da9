package boltlog

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

// A Holder is the owner of a log, as the lock file names it.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Command string    `json:"command"` // base name of the program
	Since   time.Time `json:"since"`   // when it opened the log
}

// maxHolder bounds what is read of a lock file.
const maxHolder = 4096

// lockRetry is the time between two attempts to take a lock that is waited for.
const lockRetry = 10 * time.Millisecond

// A fileLock is the lock file of a log, held. The kernel releases it with the process, however that ends, so what
// the file says counts only while somebody holds it.
type fileLock struct {
	lock *flock.Flock
	path string
}

// lockFile takes the lock of the log at path.
//
// Errors: *LockedError after timeout.
func lockFile(path string, timeout time.Duration) (*fileLock, error) {
	l := &fileLock{path: path + ".lock"}
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
		return nil, fmt.Errorf("lock driver log %s: %w", path, err)
	}
	if !ok {
		return nil, &LockedError{Path: path, Holder: readHolder(l.path)}
	}
	if err := l.sign(); err != nil {
		_ = l.lock.Unlock() // the error that counts is the first
		return nil, fmt.Errorf("lock driver log %s: %w", path, err)
	}
	return l, nil
}

// sign writes who holds the lock, as a line for people and programs.
func (l *fileLock) sign() error {
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
func (l *fileLock) release() error {
	return errors.Join(os.Truncate(l.path, 0), l.lock.Unlock())
}

// readHolder returns who holds the lock file at path. The owner may have taken it and not have signed yet, so it is given
// a moment.
func readHolder(path string) Holder {
	for range 10 {
		if data, err := os.ReadFile(path); err == nil && len(data) <= maxHolder {
			var h Holder
			if json.Unmarshal(data, &h) == nil {
				return h
			}
		}
		<-time.After(lockRetry)
	}
	return Holder{}
}

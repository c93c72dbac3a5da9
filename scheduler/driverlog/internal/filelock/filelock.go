package filelock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// maxHolder bounds what is read of a lock file.
const maxHolder = 4096

// lockRetry is the time between two attempts to take a lock that is waited for.
const lockRetry = 10 * time.Millisecond

// A Lock is a lock file, held.
type Lock struct {
	lock *flock.Flock
	path string
}

// Take takes the lock file at path, which is that of the log called log.
//
// Errors: *driverlog.LockedError after timeout.
func Take(path, log string, timeout time.Duration) (*Lock, error) {
	l := &Lock{path: path}
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
		return nil, fmt.Errorf("lock driver log %s: %w", log, err)
	}
	if !ok {
		return nil, &driverlog.LockedError{Path: log, Holder: readHolder(l.path)}
	}
	if err := l.sign(); err != nil {
		_ = l.lock.Unlock() // the error that counts is the first
		return nil, fmt.Errorf("lock driver log %s: %w", log, err)
	}
	return l, nil
}

// sign writes who holds the lock, as a line for people and programs.
func (l *Lock) sign() error {
	h := driverlog.Holder{PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second)}
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

// Release gives the lock up. The file stays: to remove it would let two owners hold two files of one name.
func (l *Lock) Release() error {
	return errors.Join(os.Truncate(l.path, 0), l.lock.Unlock())
}

// Abandon gives the lock up as the end of the process does: the file still names it. For tests of what a crash leaves.
func (l *Lock) Abandon() error { return l.lock.Unlock() }

// readHolder returns who holds the lock file at path. The owner may have taken it and not have signed yet, so it is given
// a moment.
func readHolder(path string) driverlog.Holder {
	for range 10 {
		if data, err := os.ReadFile(path); err == nil && len(data) <= maxHolder {
			var h driverlog.Holder
			if json.Unmarshal(data, &h) == nil {
				return h
			}
		}
		<-time.After(lockRetry)
	}
	return driverlog.Holder{}
}

package receivedlog

import (
	"errors"
	"fmt"
	"io/fs"
)

// Clean removes the segments in which nothing at lowest or behind it lies, oldest first, but never the newest one: its number must not be
// given again. It returns how many went. Records before lowest stay where a segment has later ones.
//
// Errors: the disk's, with the file's name; what was removed stays so, and the next Clean tries the rest again.
func (l *Log) Clean(lowest Address) (removed int, err error) {
	l.cleaning.Lock()
	defer l.cleaning.Unlock()
	for {
		l.mu.Lock()
		if l.closed {
			err = ErrClosed
		}
		if err != nil || len(l.segments) < 2 || l.segments[0].number >= lowest.Segment {
			l.mu.Unlock()
			break
		}
		number := l.segments[0].number
		l.mu.Unlock()
		if err = l.opts.FS.Remove(l.path(number)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break
		}
		err = nil
		removed++
		l.mu.Lock()
		l.segments = l.segments[1:]
		l.mu.Unlock()
	}
	if removed > 0 { // a file that comes back after a crash is removed again
		err = errors.Join(err, l.opts.FS.SyncDir(l.dir))
	}
	if err != nil {
		err = fmt.Errorf("clean log of received blocks: %w", err)
	}
	return removed, err
}

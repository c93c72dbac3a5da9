package boltlog

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/internal/groupcommit"
)

// Propose appends cmd and returns its answer once it is durable; a Committed alone is answered at once and becomes durable
// with the next command of another kind, or with Close. Calls that overlap share a transaction.
//
// Cost: a transaction of bbolt and one flush of the disk; none for a Committed, a refusal or a duplicate.
// Errors: as driverlog.Log says. A context that ends while others are written takes the command back; once its
// own transaction is under way it has no effect. Where that fails the error is ErrUnknown around a *StorageError,
// as is that of every later call; calls that were waiting behind it get ErrNotLeader around the same.
func (l *Log) Propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	return l.queue.Propose(ctx, cmd)
}

// ProposeAll appends cmds at consecutive indexes, in one transaction, and returns their answers.
//
// Cost: as of one Propose.
// Errors: as of Propose; the results before a refused command come with its error.
func (l *Log) ProposeAll(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	return l.queue.ProposeAll(ctx, cmds)
}

// apply steps the state through the commands of a group and makes durable what must be.
func (l *Log) apply(_ context.Context, group []*groupcommit.Call) {
	l.write.Lock()
	defer l.write.Unlock()
	must := false
	for _, c := range group {
		for _, cmd := range c.Commands {
			// Only what takes effect uses an index: a hole in the file is damage.
			res, err := driverlog.Step(&l.state, l.state.Index+1, cmd)
			if err != nil {
				c.Err = err
				break
			}
			c.Results = append(c.Results, res)
			if res.Duplicate {
				continue
			}
			start := len(l.buf)
			l.buf = appendEntry(l.buf, res.Index, cmd)
			l.pending = append(l.pending, span{index: res.Index, start: start, end: len(l.buf)})
			must = must || cmd.Kind != driverlog.Committed
		}
	}
	if must {
		if err := l.flush(); err != nil {
			l.fail(err)
			groupcommit.Fail(group, fmt.Errorf("%w: %w", driverlog.ErrUnknown, err))
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	groupcommit.Starts(group, func(c *groupcommit.Call, epoch uint64) {
		l.endTerm()
		if c.Lead {
			l.lost = make(chan struct{})
			l.term = driverlog.Term{Epoch: epoch, Lost: l.lost}
			c.Term = l.term
		}
	})
}

// flush makes pending durable, as entries or within a snapshot, with l.write held.
func (l *Log) flush() error {
	var err error
	if n := l.behind + len(l.pending); n >= l.every {
		err = l.store.replace(&l.state)
		l.behind = 0
		l.logger.Debug("driver log snapshot", "path", l.path, "index", l.state.Index, "entries", n)
	} else {
		err = l.store.append(l.pending, l.buf)
		l.behind = n
	}
	if err != nil {
		return &StorageError{Path: l.path, Err: err}
	}
	l.pending = l.pending[:0]
	l.buf = l.buf[:0]
	if cap(l.buf) > maxBuffer {
		l.buf = nil
	}
	return nil
}

// maxBuffer is the size of buffer that is kept for the next transaction.
const maxBuffer = 1 << 20

// fail notes the error that ends the log. bbolt would carry on after it, but the kernel may have dropped the pages that it
// could not write, and the next flush would not say so.
func (l *Log) fail(err error) {
	l.logger.Error("driver log given up", "path", l.path, "error", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
	l.endTerm()
}

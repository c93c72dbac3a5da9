package boltlog

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// Propose appends cmd and returns its answer once it is durable; a Committed alone is answered at once and becomes durable
// with the next command of another kind, or with Close. Calls that overlap share a transaction.
//
// Cost: a transaction of bbolt and one flush of the disk; none for a Committed, a refusal or a duplicate.
// Errors: as driverlog.Log says. A context that ends while others are written takes the command back; once its
// own transaction is under way it has no effect. Where that fails the error is ErrUnknown around a *StorageError,
// as is that of every later call; calls that were waiting behind it get ErrNotLeader around the same.
func (l *Log) Propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	c := newCall([]driverlog.Command{cmd})
	if err := l.submit(ctx, c); err != nil {
		return driverlog.Result{}, fmt.Errorf("propose %s: %w", cmd.Kind, err)
	}
	return c.results[0], nil
}

// ProposeAll appends cmds at consecutive indexes, in one transaction, and returns their answers.
//
// Cost: as of one Propose.
// Errors: as of Propose; the results before a refused command come with its error.
func (l *Log) ProposeAll(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	c := newCall(cmds)
	err := l.submit(ctx, c)
	if driverlog.Refused(err) {
		n := len(c.results)
		return c.results, fmt.Errorf("propose command %d of %d, %s: %w", n+1, len(cmds), cmds[n].Kind, err)
	}
	if err != nil {
		return nil, fmt.Errorf("propose %d commands: %w", len(cmds), err)
	}
	return c.results, nil
}

// A call is one call of Propose, ProposeAll or Lead on its way through the queue.
type call struct {
	cmds    []driverlog.Command
	results []driverlog.Result
	err     error
	lead    bool           // its epoch is to be this node's term
	term    driverlog.Term // which is this

	// turn gets one message: true if the caller is to write what is queued, false if that has been done for it. It
	// has room for it, so that nobody waits to send.
	turn chan bool
}

func newCall(cmds []driverlog.Command) *call { return &call{cmds: cmds, turn: make(chan bool, 1)} }

// submit has c written and returns its error. There is no goroutine that writes: of the callers that wait one writes
// for all, and then names the next.
func (l *Log) submit(ctx context.Context, c *call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	if err := l.refusal(); err != nil {
		l.mu.Unlock()
		return err
	}
	l.queue = append(l.queue, c)
	if l.writing {
		l.mu.Unlock()
		select {
		case writes := <-c.turn:
			if !writes {
				return c.err
			}
		case <-ctx.Done():
			if l.withdraw(c) {
				return ctx.Err()
			}
			// It is being written, or it is this caller's turn to write.
			if writes := <-c.turn; !writes {
				return c.err
			}
		}
	} else {
		l.writing = true
		l.mu.Unlock()
	}
	l.round()
	return c.err
}

// withdraw takes c out of the queue unless it is being written or is the one to write.
func (l *Log) withdraw(c *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, q := range l.queue {
		if q == c && len(c.turn) == 0 {
			l.queue = append(l.queue[:i], l.queue[i+1:]...)
			return true
		}
	}
	return false
}

// round writes what is queued and hands on to the next caller that waits. The caller's own call is in the queue.
func (l *Log) round() {
	l.mu.Lock()
	group := l.queue
	l.queue = nil
	failed := l.failed
	l.mu.Unlock()

	if failed != nil {
		for _, c := range group {
			c.results, c.err = nil, fmt.Errorf("%w: %w", driverlog.ErrNotLeader, failed)
		}
	} else {
		l.write.Lock()
		l.apply(group)
		l.write.Unlock()
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		l.queue[0].turn <- true
	} else {
		l.writing = false
		l.idle.Broadcast()
	}
	for _, c := range group {
		select {
		case c.turn <- false:
		default: // the writer's own, which nobody waits for
		}
	}
}

// apply steps the state through the commands of a group and makes durable what must be, with l.write held.
func (l *Log) apply(group []*call) {
	must := false
	for _, c := range group {
		for _, cmd := range c.cmds {
			// Only what takes effect uses an index: a hole in the file is damage.
			res, err := driverlog.Step(&l.state, l.state.Index+1, cmd)
			if err != nil {
				c.err = err
				break
			}
			c.results = append(c.results, res)
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
			for _, c := range group {
				c.results, c.err = nil, fmt.Errorf("%w: %w", driverlog.ErrUnknown, err)
			}
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range group {
		for i, res := range c.results {
			if c.cmds[i].Kind != driverlog.LeaderStart || res.Duplicate {
				continue
			}
			l.endTerm()
			if c.lead {
				l.lost = make(chan struct{})
				l.term = driverlog.Term{Epoch: res.Epoch, Lost: l.lost}
				c.term = l.term
			}
		}
	}
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

package objectlog

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// Propose appends cmd and returns its answer once it is durable; a Committed alone is answered at once and becomes durable with the
// next command of another kind, or with Close. Calls that overlap share an object.
//
// Cost: the creation of an object; none for a Committed, a refusal or a duplicate.
// Errors: as driverlog.Log says; ErrNotLeader of a log that has not led. *driverlog.FencedError if another driver has taken over. A context
// that ends while others are written takes the command back; once its own object is being created it has no effect. Where that
// fails for Options.Timeout the error is ErrUnknown around a *StorageError, as is that of every later call; calls that were
// waiting behind it get ErrNotLeader around the same.
func (l *Log) Propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	c := newCall([]driverlog.Command{cmd})
	if err := l.submit(ctx, c); err != nil {
		return driverlog.Result{}, fmt.Errorf("propose %s: %w", cmd.Kind, err)
	}
	return c.results[0], nil
}

// ProposeAll appends cmds at consecutive indexes, in one object, and returns their answers.
//
// Cost: as of one Propose.
// Errors: as of Propose; the results before a refused command come with its error. More bytes than an object may have are refused
// with a *driverlog.LimitError.
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
	size    int // bound of the bytes of their encodings
	results []driverlog.Result
	err     error
	lead    bool           // its epoch is to be this node's term
	term    driverlog.Term // which is this

	// turn gets one message: true if the caller is to write what is queued, false if that has been done for it. It
	// has room for it, so that nobody waits to send.
	turn chan bool
}

// maxGroup bounds the bytes of the commands of one call, and about those of an object.
const maxGroup = blobstore.MaxData / 4

func newCall(cmds []driverlog.Command) *call {
	c := &call{cmds: cmds, turn: make(chan bool, 1)}
	for i := range cmds {
		c.size += 128 + len(cmds[i].Node) + len(cmds[i].App) + len(cmds[i].Manifest)
		for j := range cmds[i].Inputs {
			c.size += 16 + len(cmds[i].Inputs[j].Data)
		}
	}
	return c
}

// submit has c written and returns its error. Of the callers that wait one writes for all, and then names the next.
func (l *Log) submit(ctx context.Context, c *call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	if err := l.refusal(); err != nil {
		l.mu.Unlock()
		return err
	}
	if c.size > maxGroup {
		l.mu.Unlock()
		return &driverlog.LimitError{What: "bytes of commands that are proposed together", Limit: maxGroup}
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
	l.round(ctx)
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

// round writes what is queued, as far as one object has room for it, and hands on to the next caller that waits. The caller's
// own call is the first in the queue.
func (l *Log) round(ctx context.Context) {
	l.mu.Lock()
	n, size := 0, 0
	for n < len(l.queue) && (n == 0 || size+l.queue[n].size <= maxGroup) {
		size += l.queue[n].size
		n++
	}
	group := append([]*call(nil), l.queue[:n]...)
	l.queue = append(l.queue[:0], l.queue[n:]...)
	failed := l.failed
	l.mu.Unlock()

	if failed != nil {
		for _, c := range group {
			c.results, c.err = nil, fmt.Errorf("%w: %w", driverlog.ErrNotLeader, failed)
		}
	} else {
		l.write <- struct{}{}
		l.apply(ctx, group)
		<-l.write
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

package groupcommit

import (
	"context"
	"fmt"
	"sync"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A Call is one call of Propose, ProposeAll or Lead. Whoever writes it sets Results, Err and Term.
type Call struct {
	Commands []driverlog.Command
	Lead     bool // the epoch of its LeaderStart is to be this node's term
	Results  []driverlog.Result
	Err      error
	Term     driverlog.Term

	size int
	// turn gets one message: true if the caller is to write what is queued, false if that has been done for it. It
	// has room for it, so that nobody waits to send.
	turn chan bool
}

// Options are what a log does with calls.
type Options struct {
	// Limit bounds the sizes of a group, and of a call; 0 does not.
	Limit int
	// Size returns a bound of the bytes that a command takes; nil where there is no Limit.
	Size func(cmd *driverlog.Command) int
	// Refusal returns why the log takes no calls, nil if it does. The log's lock is held.
	Refusal func() error
	// Failed returns what has ended the log, nil if nothing has. The log's lock is held.
	Failed func() error
	// Write writes a group. It is called without the lock, by one caller at a time, with that caller's context.
	Write func(ctx context.Context, group []*Call)
}

// A Queue holds the calls that wait to be written.
type Queue struct {
	Options
	mu      *sync.Mutex // the log's; guards the fields below
	waiting []*Call
	writing bool       // one caller writes, or has been told to
	idle    *sync.Cond // signalled when writing ends
}

// New returns the queue of a log whose lock is mu.
func New(mu *sync.Mutex, opts Options) *Queue {
	return &Queue{Options: opts, mu: mu, idle: sync.NewCond(mu)}
}

// Propose has cmd written and returns its answer.
//
// Errors: Refusal's; what Write sets; ctx's where the call was taken back; a *driverlog.LimitError.
func (q *Queue) Propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	c := &Call{Commands: []driverlog.Command{cmd}}
	if err := q.Submit(ctx, c); err != nil {
		return driverlog.Result{}, fmt.Errorf("propose %s: %w", cmd.Kind, err)
	}
	return c.Results[0], nil
}

// ProposeAll has cmds written in one group and returns their answers.
//
// Errors: as of Propose; the results before a refused command come with its error.
func (q *Queue) ProposeAll(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	c := &Call{Commands: cmds}
	err := q.Submit(ctx, c)
	if driverlog.Refused(err) && len(c.Results) < len(cmds) {
		n := len(c.Results)
		return c.Results, fmt.Errorf("propose command %d of %d, %s: %w", n+1, len(cmds), cmds[n].Kind, err)
	}
	if err != nil {
		return nil, fmt.Errorf("propose %d commands: %w", len(cmds), err)
	}
	return c.Results, nil
}

// Submit has c written and returns its error.
func (q *Queue) Submit(ctx context.Context, c *Call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.turn = make(chan bool, 1)
	if q.Limit > 0 {
		for i := range c.Commands {
			c.size += q.Size(&c.Commands[i])
		}
	}
	q.mu.Lock()
	if err := q.Refusal(); err != nil {
		q.mu.Unlock()
		return err
	}
	if q.Limit > 0 && c.size > q.Limit {
		q.mu.Unlock()
		return &driverlog.LimitError{What: "bytes of commands that are proposed together", Limit: q.Limit}
	}
	q.waiting = append(q.waiting, c)
	if q.writing {
		q.mu.Unlock()
		select {
		case writes := <-c.turn:
			if !writes {
				return c.Err
			}
		case <-ctx.Done():
			if q.withdraw(c) {
				return ctx.Err()
			}
			// It is being written, or it is this caller's turn to write.
			if writes := <-c.turn; !writes {
				return c.Err
			}
		}
	} else {
		q.writing = true
		q.mu.Unlock()
	}
	q.round(ctx)
	return c.Err
}

// withdraw takes c out of the queue unless it is being written or is the one to write.
func (q *Queue) withdraw(c *Call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, w := range q.waiting {
		if w == c && len(c.turn) == 0 {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// round writes what is queued, as far as the limit lets it, and hands on to the next caller that waits. The caller's own call is the
// first in the queue.
func (q *Queue) round(ctx context.Context) {
	q.mu.Lock()
	group := q.take()
	failed := q.Failed()
	q.mu.Unlock()

	if failed != nil {
		Fail(group, fmt.Errorf("%w: %w", driverlog.ErrNotLeader, failed))
	} else {
		q.Write(ctx, group)
	}

	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		q.waiting[0].turn <- true
	} else {
		q.writing = false
		q.idle.Broadcast()
	}
	for _, c := range group {
		select {
		case c.turn <- false:
		default: // the writer's own, which nobody waits for
		}
	}
}

// take takes the next group out of the queue. The lock is held.
func (q *Queue) take() []*Call {
	if q.Limit == 0 {
		group := q.waiting
		q.waiting = nil
		return group
	}
	n, size := 0, 0
	for n < len(q.waiting) && (n == 0 || size+q.waiting[n].size <= q.Limit) {
		size += q.waiting[n].size
		n++
	}
	group := append([]*Call(nil), q.waiting[:n]...)
	q.waiting = append(q.waiting[:0], q.waiting[n:]...)
	return group
}

// Waiting returns how many calls wait. The lock is held.
func (q *Queue) Waiting() int { return len(q.waiting) }

// AwaitIdle waits until nobody writes or waits to. The lock is held, and given up meanwhile.
func (q *Queue) AwaitIdle() {
	for q.writing {
		q.idle.Wait()
	}
}

// Fail gives all calls of a group an error and no results.
func Fail(group []*Call, err error) {
	for _, c := range group {
		c.Results, c.Err = nil, err
	}
}

// Starts calls f for each LeaderStart of a written group that has begun a term.
func Starts(group []*Call, f func(c *Call, epoch uint64)) {
	for _, c := range group {
		for i, res := range c.Results {
			if c.Commands[i].Kind == driverlog.LeaderStart && !res.Duplicate {
				f(c, res.Epoch)
			}
		}
	}
}

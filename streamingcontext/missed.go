package streamingcontext

import (
	"context"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
)

// A MissedPolicy says what becomes of the batch times that passed while a context of GetOrCreate was not there.
type MissedPolicy int

// The policies.
const (
	// MissedEach makes a batch of each of them, in order. Files are given to the batches of their times, received blocks to the
	// first.
	MissedEach MissedPolicy = iota
	// MissedCoalesce gives the newest of them all that has come meanwhile, and leaves out those before it. What is still in a
	// window then is shown first: as long after the last batch as windows reach back, batches without input are made. So every window
	// that holds a record is shown, and holds what it would have; windows without a record are not shown, and state functions not called, for
	// times that are left out. Files and receivers can wait, and other inputs that are a dstream.InputHolder; Start
	// refuses a program with others, and one with a window of states, with a *dstream.CoalesceError.
	MissedCoalesce
)

// String returns the policy's name.
func (p MissedPolicy) String() string {
	switch p {
	case MissedEach:
		return "each"
	case MissedCoalesce:
		return "coalesce"
	}
	return fmt.Sprintf("missed policy %d", int(p))
}

// coalescible checks that batches can be left out, if they are to be.
func (c *Context) coalescible() error {
	switch {
	case c.opts.DynamicInterval.Enabled:
		return c.graph.Coalescible(true)
	case c.opts.Missed == MissedCoalesce && c.durable != nil:
		return c.graph.Coalescible(false)
	}
	return nil
}

// catchUp makes one batch of the times from first on that have passed before the term began, if that is the policy, and those
// that windows need. It returns the next batch time; false when the context cannot go on.
func (l *batchLoop) catchUp(ctx context.Context, first int64) (next int64, ok bool) {
	c, interval := l.r.c, l.r.timer.period
	newest := int64(l.made) + (int64(l.r.missed)-int64(l.made))/interval*interval
	if c.opts.Missed != MissedCoalesce || l.r.missed == 0 || newest <= first {
		return first, true
	}
	shown := int64(l.made) + int64(c.graph.Reach()/time.Millisecond)
	for t := first; t < newest && t <= shown; t += interval {
		if err := c.graph.Hold(dstream.Time(t)); err != nil {
			return t, l.stopWith(ctx, err)
		}
		if !l.make(ctx, dstream.Time(t), true) {
			return t, false
		}
	}
	c.opts.Logger.Info("batches that were missed are made as one", "batch", newest, "left out", (newest-int64(l.made))/interval-1)
	return newest + interval, l.make(ctx, dstream.Time(newest), false)
}

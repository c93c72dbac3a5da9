package streamingcontext

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/leat-io/leat/dstream"
)

// A batchLoop makes the batches: the timer calls tick on the loop's goroutine for one batch time after
// the other. Nothing but tick allocates, generates and begins.
type batchLoop struct {
	r      *running
	inputs inputWriter
	made   dstream.Time // the last batch made, or the time before the first
}

// tick makes the batch of a time in milliseconds and queues its jobs, or leaves it out. It returns false when the context
// cannot go on.
func (l *batchLoop) tick(ctx context.Context, ms int64) bool {
	t := dstream.Time(ms)
	if t <= l.made { // with those that a pause has held up
		return ctx.Err() == nil
	}
	missed := l.r.missed
	if !l.awaitRunning(ctx) {
		return false
	}
	if l.r.missed != missed { // after a pause, as after the start
		if next, ok := l.catchUp(ctx, ms); !ok || next > ms {
			return ok
		}
	}
	if l.leavesOut(t) {
		l.r.overload.ticked()
		return ctx.Err() == nil
	}
	return l.make(ctx, t, false)
}

// leavesOut reports whether the input of batch time t is left to a later batch.
func (l *batchLoop) leavesOut(t dstream.Time) bool {
	r := l.r
	if r.c.pace == nil || r.ending.Load() || r.timer.stopping.Load() { // the last batch has all that is left
		return false
	}
	return int64(t-l.made) < r.c.pace.intervals()*r.timer.period && !r.c.graph.Due(t)
}

// make makes batch t. Times between it and the one before are left out. One that is held has no input.
func (l *batchLoop) make(ctx context.Context, t dstream.Time, held bool) bool {
	if !l.batch(ctx, t, held) {
		return false
	}
	l.made = t
	l.r.ledger.tickOver(t)
	return true
}

func (l *batchLoop) batch(ctx context.Context, t dstream.Time, held bool) bool {
	r := l.r
	// Waiting comes before allocating: while jobs are behind, received blocks stay unallocated and
	// hold their receivers back.
	r.overload.ticked()
	if r.ledger.awaitRoom(ctx) != nil {
		return false // the context ends
	}
	r.c.receivers.placeOnExecutors() // before blocks are given out, which go where their receiver is
	if !held {
		r.c.blocks.allocate(t)
	}
	intervals := max(1, int64(t-l.made)/r.timer.period)
	r.c.span.Store(intervals)
	if t <= r.missed { // what was missed has no more time than one interval
		r.c.span.Store(1)
	}
	if r.planning.take(ctx) != nil { // what an input remembers is of batches that are begun, whenever it is asked
		return false
	}
	unlock := sync.OnceFunc(r.planning.give)
	defer unlock()
	r.c.graph.LeaveOut(dstream.Gap{After: l.made, Before: t})
	jobs, failure := r.c.generate(t)
	if ctx.Err() != nil {
		return false
	}
	infos := r.c.graph.InputInfos(t)
	r.overload.made(infos)
	inputs, err := l.inputs.write(t, r.streams, infos)
	if err != nil {
		return l.stopWith(ctx, fmt.Errorf("record the inputs of batch %s: %w", t, err))
	}
	if len(jobs) == 0 && failure == nil {
		if done, err := r.ledger.whole(ctx, t, inputs, unlock); done || err != nil {
			r.c.batchTook(0)
			return err == nil || l.stopWith(ctx, err)
		}
	}
	b, err := r.ledger.begin(ctx, t, inputs)
	unlock()
	if err != nil {
		return l.stopWith(ctx, err)
	}
	b.inputs, b.late, b.intervals = infos, t <= r.missed, intervals
	return l.run(ctx, b, jobs, failure)
}

// runAgain queues the jobs of batches that an earlier term has begun. It returns false when the context cannot go on.
func (l *batchLoop) runAgain(ctx context.Context) bool {
	for _, b := range l.r.again {
		if !l.run(ctx, b.batch, b.jobs, nil) {
			return false
		}
		l.r.ledger.tickOver(b.batch.time)
	}
	l.r.again = nil
	return true
}

// run queues the jobs of a batch that is begun, or ends it where there are none.
func (l *batchLoop) run(ctx context.Context, b *batch, jobs []dstream.Job, failure error) bool {
	r, t := l.r, b.time
	b.jobs = len(jobs)
	switch {
	case failure != nil:
		b.notMade = failure
		r.c.opts.Logger.Error("batch not generated", "batch", int64(t), "err", failure)
		r.c.outcome.report(failure)
		r.c.graph.ForgetOutputs(t)
		if r.c.opts.OnFailure.Then == StopOnFailure {
			r.ledger.halt() // it ends once the batches before this one are done
		}
		r.close(ctx, b, func() {})
	case len(jobs) == 0:
		r.c.opts.Logger.Debug("batch without jobs", "batch", int64(t))
		r.close(ctx, b, func() {})
	default:
		b.submitted(jobs, r.c)
		r.slots.submit(b, jobs)
	}
	return true
}

// stopWith ends the context with err, unless it is ending already.
func (l *batchLoop) stopWith(ctx context.Context, err error) bool {
	if ctx.Err() == nil {
		l.r.c.fatal(err)
	}
	return false
}

// generate returns the jobs of batch t. Inputs and the functions of Transform run in it; a panic of
// an input is an error of the batch.
func (c *Context) generate(t dstream.Time) (jobs []dstream.Job, err error) {
	defer func() {
		if v := recover(); v != nil {
			jobs, err = nil, fmt.Errorf("generate batch %s: %w", t, &PanicError{Value: fmt.Sprint(v), Stack: string(debug.Stack())})
		}
	}()
	return c.graph.Generate(t)
}

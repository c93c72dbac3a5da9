package streamingcontext

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/leat-io/leat/dstream"
)

// A batchLoop makes the batches: the timer calls tick on the loop's goroutine for one batch time after
// the other. Nothing but tick allocates, generates and begins.
type batchLoop struct {
	r      *running
	inputs inputWriter
}

// tick makes the batch of a time in milliseconds and queues its jobs. It returns false when the context
// cannot go on.
func (l *batchLoop) tick(ctx context.Context, ms int64) bool {
	if !l.batch(ctx, dstream.Time(ms)) {
		return false
	}
	l.r.ledger.tickOver(dstream.Time(ms))
	return true
}

func (l *batchLoop) batch(ctx context.Context, t dstream.Time) bool {
	r := l.r
	// Waiting comes before allocating: while jobs are behind, received blocks stay unallocated and
	// hold their receivers back.
	r.overload.ticked()
	if r.ledger.awaitRoom(ctx) != nil {
		return false // the context ends
	}
	r.c.receivers.placeOnExecutors() // before blocks are given out, which go where their receiver is
	r.c.blocks.allocate(t)
	jobs, failure := l.generate(t)
	if ctx.Err() != nil {
		return false
	}
	plan := manifest{kind: outputsDone, outputs: len(jobs)}
	if failure != nil {
		plan = manifest{kind: notGenerated}
	}
	infos := r.c.graph.InputInfos(t)
	b, err := r.ledger.begin(ctx, t, l.inputs.write(t, r.streams, infos), plan)
	if err != nil {
		return l.stopWith(ctx, err)
	}
	b.inputs = infos
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
func (l *batchLoop) generate(t dstream.Time) (jobs []dstream.Job, err error) {
	defer func() {
		if v := recover(); v != nil {
			jobs, err = nil, fmt.Errorf("generate batch %s: %w", t, &PanicError{Value: fmt.Sprint(v), Stack: string(debug.Stack())})
		}
	}()
	return l.r.c.graph.Generate(t)
}

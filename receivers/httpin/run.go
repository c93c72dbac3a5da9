package httpin

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/leat-io/leat/receivers"
)

// run is what requests need of a Receive in progress, which it dies with.
type run[T any] struct {
	sink   receivers.Sink[T]
	fail   context.CancelCauseFunc // ends Receive with an error
	last   context.Context         // ends when stores are to be given up
	giveUp context.CancelFunc      // ends last
	stores sync.WaitGroup          // the requests that store
}

func newRun[T any](ctx context.Context, sink receivers.Sink[T], fail context.CancelCauseFunc) *run[T] {
	r := &run[T]{sink: sink, fail: fail}
	r.last, r.giveUp = context.WithCancel(context.WithoutCancel(ctx)) // requests in flight outlive Receive's context
	return r
}

// store stores rows as a block within wait.
//
// Errors: errNoRoom, errCutOff; that of ctx, which is the request's; that of the sink, which ends Receive as well.
func (r *run[T]) store(ctx context.Context, wait time.Duration, rows []T) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.last, func() { cancel(errCutOff) })()
	defer time.AfterFunc(wait, func() { cancel(errNoRoom) }).Stop()
	err := r.sink.StoreBlock(ctx, rows)
	if err == nil {
		return nil
	}
	if errors.Is(err, ctx.Err()) { // ctx has ended, then
		return context.Cause(ctx)
	}
	r.fail(err)
	return err
}

// runs is the run that requests belong to, if there is one.
type runs[T any] struct {
	mu   sync.Mutex // guards open, and the start of a store
	here *run[T]
}

// open lets requests in.
func (r *runs[T]) open(run *run[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.here = run
}

// enter returns the run, in which the caller now stores; nil if there is none.
func (r *runs[T]) enter() *run[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.here != nil {
		r.here.stores.Add(1)
	}
	return r.here
}

// report tells the sink of a problem, where there is a run.
func (r *runs[T]) report(err error) {
	if run := r.enter(); run != nil {
		defer run.stores.Done()
		run.sink.ReportError(err)
	}
}

// close lets no more requests in and returns when those that store have ended; at the end of grace they give up.
func (r *runs[T]) close(run *run[T], grace time.Duration) {
	r.mu.Lock()
	if r.here == run {
		r.here = nil
	}
	r.mu.Unlock()
	defer run.giveUp()
	defer time.AfterFunc(grace, run.giveUp).Stop()
	run.stores.Wait()
}

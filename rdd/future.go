package rdd

import (
	"context"
	"sync"
)

// A Future is the answer of an action that runs in the background. Its methods may be called from any goroutine.
//
// The action's goroutine ends with the action. Whoever must know that it has ended waits: Cancel, then Wait, leaves nothing
// behind.
type Future[R any] struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when value and err are set and the goroutine does nothing more
	wg     sync.WaitGroup
	value  R
	err    error
}

// background runs an action of r on a goroutine of its own. The call site is that of the caller, which the goroutine's stack
// does not show.
func background[T, R any](ctx context.Context, r *RDD[T], action func(ctx context.Context, r *RDD[T]) (R, error)) *Future[R] {
	here := *r.ctx
	here.site = r.ctx.callSite()
	r = r.In(&here)
	ctx, cancel := context.WithCancel(ctx)
	f := &Future[R]{cancel: cancel, done: make(chan struct{})}
	f.wg.Go(func() {
		defer close(f.done)
		defer cancel()
		f.err = errGoexit // unless the action comes back
		f.err = guarded(func() (err error) {
			f.value, err = action(ctx, r)
			return err
		})
	})
	return f
}

// Wait returns the action's answer when it is there. An end of ctx ends the waiting, with its cause, and not the action.
// It may be called more than once.
//
// Errors: what the action returned; after Cancel that is context.Canceled, unless it was done by then.
func (f *Future[R]) Wait(ctx context.Context) (R, error) {
	select {
	case <-f.done:
	case <-ctx.Done():
		select {
		case <-f.done: // both are there: the answer is worth more
		default:
			var none R
			return none, context.Cause(ctx)
		}
	}
	f.wg.Wait() // the last steps of a goroutine that has its answer
	return f.value, f.err
}

// Done returns a channel that is closed when the answer is there.
func (f *Future[R]) Done() <-chan struct{} { return f.done }

// Cancel cancels the action's jobs and returns at once. It may be called more than once, and after the end.
func (f *Future[R]) Cancel() { f.cancel() }

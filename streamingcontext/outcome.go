package streamingcontext

import (
	"context"
	"sync"
)

// An outcome is what becomes of a running context: the first error that was reported, and whether it
// has stopped. Those who wait are told.
type outcome struct {
	failed  chan struct{} // closed at the first error
	stopped chan struct{} // closed when everything has stopped

	mu    sync.Mutex // guards the fields below
	err   error
	ended error
}

func newOutcome() *outcome {
	return &outcome{failed: make(chan struct{}), stopped: make(chan struct{})}
}

// report keeps err if it is the first one.
func (o *outcome) report(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && err != nil {
		o.err = err
		close(o.failed)
	}
}

// end keeps err as what ends the context, if it is the first to do so, and reports it.
func (o *outcome) end(err error) {
	o.report(err)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended == nil {
		o.ended = err
	}
}

// endedBy returns what ended the context, nil if no error did.
func (o *outcome) endedBy() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// first returns the first error reported, nil if there is none.
func (o *outcome) first() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// await returns the first error as soon as there is one, and nil when all has stopped without.
func (o *outcome) await(ctx context.Context) error {
	if err := o.first(); err != nil {
		return err
	}
	select {
	case <-o.failed:
	case <-o.stopped:
	case <-ctx.Done():
		return ctx.Err()
	}
	return o.first()
}

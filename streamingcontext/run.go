package streamingcontext

import (
	"context"
	"errors"
)

// Await waits until the context has stopped or an error is reported, and returns the first error
// reported, also when it is called later; nil if there was none. An error does not stop the context,
// unless no batch can follow: that is for the caller to decide.
//
// Errors: *OutputError, *dstream.GenerationError, *PendingError, ErrTermLost, what the driver log
// returned; ctx's error when it ends first.
func (c *Context) Await(ctx context.Context) error { return c.outcome.await(ctx) }

// Run starts the context and returns when it has stopped: gracefully when ctx ends, at once when a
// batch fails.
//
// Errors: as Start, but nil where ctx ends before the context has started, as while it waits to lead; the
// first error of a batch, as Await; *StopTimeoutError when the graceful stop was cut short. A context that
// another goroutine stops gives nil.
func (c *Context) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil
		}
		return err
	}
	// An error that arrives together with the end of ctx counts: graceful only without one.
	_ = c.outcome.await(ctx)
	graceful := c.Err() == nil
	stopErr := c.Stop(context.WithoutCancel(ctx), StopOptions{Graceful: graceful})
	if err := c.Err(); err != nil {
		return err
	}
	return stopErr
}

package streamingcontext

import (
	"context"
	"errors"
)

// Await waits until the context has stopped or an error is reported, and returns the first error
// reported, also when it is called later; nil if there was none. The error of a batch ends the context as
// well, unless Options.OnFailure sets such batches aside. Whoever waits for the end of a context that goes on calls
// Run.
//
// Errors: *OutputError, *dstream.GenerationError, ErrTermLost, what the driver log returned; ctx's error when it
// ends first.
func (c *Context) Await(ctx context.Context) error { return c.outcome.await(ctx) }

// Run starts the context and returns when it has stopped: gracefully when ctx ends, at once when a
// batch fails that Options.OnFailure does not set aside.
//
// Errors: as Start, but nil where ctx ends before the context has started, as while it waits to lead; what ended
// the context, as Await; *StopTimeoutError when the graceful stop was cut short. A context that another goroutine
// stops gives nil, and batches that were set aside are no error: Context.SetAside lists them.
func (c *Context) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil
		}
		return err
	}
	select {
	case <-c.outcome.stopped: // by an error, or by another goroutine
	case <-ctx.Done():
	}
	stopErr := c.Stop(context.WithoutCancel(ctx), StopOptions{Graceful: true})
	if err := c.outcome.endedBy(); err != nil {
		return err
	}
	return stopErr
}

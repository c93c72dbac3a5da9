package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/leat-io/leat/dstream"
)

// StopOptions say how Stop ends a context. The zero value stops at once.
type StopOptions struct {
	// Graceful first stops the receivers, then processes everything that was received: no record is
	// lost. It takes up to two more intervals and the time of the batches that wait, at most
	// Options.StopTimeout.
	Graceful bool
	// KeepEngine leaves the context's own engine running, for RDDs. A later Stop without it closes the
	// engine. An engine that was given to the context is never closed.
	KeepEngine bool
}

// stopping is a stop under way.
type stopping struct {
	graceful bool
	abandon  context.CancelFunc // cuts the orderly part short
	left     bool               // functions were left behind; set before outcome.stopped is closed
	err      error              // the same
}

// Stop ends the context and returns when everything it started has ended. It may be called at any time
// and again: a second call waits for the first, turns it into a stop at once unless it is Graceful too, and
// returns the same. Before Start it only makes the context Stopped.
//
// A stop at once cancels the tasks that run and drops what waits; so does a graceful one when its time
// is over. When ctx ends, Stop cuts the rest short and returns without waiting; call it again to wait.
// Functions of the program that ignore their context hold it up for Options.StopTimeout, or two seconds where that is
// less; then they are left behind, and nothing that they do reaches the context any more.
//
// Errors: *StopTimeoutError when a graceful stop was cut short, and when functions were left behind; ctx's error;
// ErrStopInListener and ErrStopInJob for a call that would wait for itself.
func (c *Context) Stop(ctx context.Context, opts StopOptions) error {
	c.mu.Lock()
	if c.cancelStart != nil {
		c.cancelStart() // a start that waits to lead need not go on
	}
	active := c.state == Active
	c.mu.Unlock()
	if active {
		switch calledFrom(inListener, inJob, inBatch) {
		case inListener:
			return ErrStopInListener
		case inJob, inBatch:
			return ErrStopInJob
		}
	}
	var err error
	if s := c.beginStop(opts.Graceful); s != nil {
		if !opts.Graceful {
			s.abandon()
		}
		select {
		case <-c.outcome.stopped:
		case <-ctx.Done():
			s.abandon()
			if c.State() != Stopped {
				return fmt.Errorf("stop streaming context: %w", ctx.Err())
			}
			<-c.outcome.stopped
		}
		err = s.err
		if s.left && !opts.KeepEngine && c.opts.Engine == nil {
			c.engine.close() // whose tasks may be what does not return
			return err
		}
	}
	if !opts.KeepEngine {
		err = errors.Join(err, c.closeOwnEngine())
	}
	return err
}

// closeOwnEngine closes an engine that the context has made.
func (c *Context) closeOwnEngine() error {
	if c.opts.Engine == nil && !within(c.opts.patience(), c.engine.close()) {
		return &StopTimeoutError{Timeout: c.opts.patience(), Waiting: "tasks to end", Err: context.DeadlineExceeded}
	}
	return nil
}

// beginStop starts the stop of an active context, or returns the one under way or done; nil if the
// context never ran.
func (c *Context) beginStop(graceful bool) *stopping {
	c.starting.Lock()
	defer c.starting.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		if c.state == Initialized {
			c.state = Stopped
			c.graph.Seal(dstream.ErrContextStopped)
			if err := c.durable.close(); err != nil {
				c.opts.Logger.Error("driver log does not close", "err", err)
			}
			close(c.outcome.stopped)
		}
		return nil
	}
	return c.stopLocked(graceful)
}

// stopLocked is beginStop with mu held and the context running.
func (c *Context) stopLocked(graceful bool) *stopping {
	if c.stopping != nil {
		return c.stopping
	}
	// A stop outlives the call that begins it, so its context is its own.
	var ctx context.Context
	var abandon context.CancelFunc
	if c.opts.StopTimeout > 0 && graceful {
		ctx, abandon = context.WithTimeout(context.Background(), c.opts.StopTimeout)
	} else {
		ctx, abandon = context.WithCancel(context.Background())
	}
	s := &stopping{graceful: graceful, abandon: abandon}
	c.stopping = s
	// Whoever wants to wait for it waits for outcome.stopped, which it closes last.
	c.running.stop.Go(func() { c.shutdown(ctx, c.running, s) })
	return s
}

// fatal ends the context with an error. It does not wait, so that what is to be stopped may call it.
func (c *Context) fatal(err error) {
	level := slog.LevelError
	if c.opts.Cluster != nil && termOver(err) {
		level = slog.LevelInfo // another driver goes on
	}
	c.opts.Logger.Log(context.Background(), level, "streaming context ends", "err", err)
	c.outcome.end(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopLocked(false).abandon()
}

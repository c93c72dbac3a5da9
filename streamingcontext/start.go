package streamingcontext

import (
	"context"
	"errors"
	"fmt"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
)

// Start checks the declarations and starts receivers and batches. It does not wait for any; ctx counts
// for the start only. On an active context it does nothing but log a warning. Whoever starts a context
// stops it, also after an error has ended it.
//
// Time: the first batch is at the first multiple of the interval that is later than the clock and the
// last batch in the driver log.
// Errors: all that is wrong with options and declarations, joined, those of declarations as
// *dstream.BuildError with file and line; dstream.ErrNoOutputOps; what the driver log returned. The context
// is Stopped then. ErrAnotherContextActive leaves it as it was. dstream.ErrContextStopped after a stop.
func (c *Context) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.starting.Lock()
	defer c.starting.Unlock()
	c.mu.Lock()
	state := c.state
	c.cancelStart = cancel
	c.mu.Unlock()
	switch state {
	case Active:
		c.opts.Logger.Warn("streaming context is active already")
		return nil
	case Stopped:
		return dstream.ErrContextStopped
	}
	if !c.engine.active.CompareAndSwap(nil, c) {
		return ErrAnotherContextActive
	}
	// Its batches may have the times of those before it, and RDDs are known by batch time and stream.
	c.engine.rdds.Forget(c.engine.left...)
	c.engine.left = nil
	if err := c.start(ctx); err != nil {
		c.finish()
		return errors.Join(err, c.closeOwnEngine())
	}
	return nil
}

// start is Start once it is the context's turn. Where it returns an error nothing runs.
func (c *Context) start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("start streaming context: %w", err)
	}
	if err := errors.Join(c.faults(), c.graph.Err()); err != nil {
		// The graph will never run, but all that is wrong with it is to be told at once.
		return fmt.Errorf("start streaming context: %w", errors.Join(c.faults(), c.graph.Start(0)))
	}
	log, own := c.opts.Log, false
	if log == nil {
		mem, err := memlog.New(memlog.Options{Logger: c.opts.Logger})
		if err != nil {
			return fmt.Errorf("start streaming context: %w", err)
		}
		log, own = mem, true
	}
	err := c.lead(ctx, log, own)
	if err != nil && own {
		err = errors.Join(err, log.Close())
	}
	return err
}

// lead begins a term and starts what runs in it.
func (c *Context) lead(ctx context.Context, log driverlog.Log, own bool) error {
	term, err := log.Lead(ctx)
	if err != nil {
		return fmt.Errorf("start streaming context: %w", err)
	}
	l := &ledger{log: log, app: c.opts.App, epoch: term.Epoch, setAside: c.opts.OnFailure.Then == SetAside, committed: func(t dstream.Time) {
		c.graph.Forget(t)
		c.blocks.complete(t)
	}}
	last, left, err := l.lead(ctx)
	if err != nil {
		return fmt.Errorf("start streaming context: %w", err)
	}
	if left > 0 {
		c.opts.Logger.Warn("batches that an earlier process began and did not finish are given up", "batches", left)
	}
	interval := c.Interval().Milliseconds()
	now := c.opts.Clock.Now()
	first := firstTick(max(now, int64(last)), interval)
	if err := c.graph.Start(dstream.Time(first - interval)); err != nil {
		return fmt.Errorf("start streaming context: %w", err)
	}
	if err := c.startReceiverTracker(ctx, now); err != nil {
		return fmt.Errorf("start streaming context: %w", err)
	}
	c.graph.Seal(dstream.ErrContextActive)
	r := newRunning(c, l, own)
	c.mu.Lock()
	c.state, c.running = Active, r
	c.mu.Unlock()
	c.opts.Logger.Info("streaming context started", "options", c.opts.String(), "first batch", first, "epoch", term.Epoch)
	r.launch(ctx, term, now, first)
	return nil
}

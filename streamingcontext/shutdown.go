package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leat-io/leat/dstream"
)

// shutdown is the goroutine of a stop.
func (c *Context) shutdown(ctx context.Context, r *running, s *stopping) {
	defer s.abandon()
	<-r.launched // an error may come before Start has launched everything
	if s.graceful {
		s.err = r.drain(ctx)
		if cut, ok := errors.AsType[*StopTimeoutError](s.err); ok && ctx.Err() == context.DeadlineExceeded {
			cut.Timeout = c.opts.StopTimeout
		}
	}
	r.drop()
	left := !r.awaitEnd(&r.work)
	c.bus.close()
	delivered := r.awaitEnd(&r.delivery)
	if !delivered {
		c.bus.hush() // also when the function that holds it up returns one day
	}
	if !delivered || left {
		s.left = true
		s.err = errors.Join(s.err, &StopTimeoutError{Timeout: c.opts.patience(), Err: context.DeadlineExceeded,
			Waiting: "functions of the program that do not return, and are left behind"})
	}
	if err := r.closeLog(); err != nil && s.err == nil {
		s.err = fmt.Errorf("close driver log: %w", err)
	}
	var last dstream.Time
	select {
	case <-r.loopEnded:
		last = r.last
	default: // a function of the program that does not return holds the loop
	}
	c.opts.Logger.Info("streaming context stopped", "last batch", int64(last), "err", s.err)
	c.finish()
}

// drain ends receivers, batches and jobs in this order, each when it has done all its work.
func (r *running) drain(ctx context.Context) error {
	wait := func(what string, done <-chan struct{}) error {
		select {
		case <-done:
			return nil
		default:
		}
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return &StopTimeoutError{Waiting: what, Err: ctx.Err()}
		}
	}
	r.ending.Store(true)
	r.stopReceivers()
	if err := wait("receivers to end", r.receivers); err != nil {
		return err
	}
	if err := r.drainBlocks(ctx); err != nil {
		return &StopTimeoutError{Waiting: "received blocks to be given to a batch", Err: err}
	}
	r.timer.finish()
	if err := wait("the last batches to be made", r.loopEnded); err != nil {
		return err
	}
	if err := r.ledger.awaitSettled(ctx, r.last, r.dropped); err != nil {
		return &StopTimeoutError{Waiting: "batches to be processed", Err: err}
	}
	return nil
}

// drainBlocks waits until what was received is given to a batch. Where there is none to come, for the application was stopped before the first of
// this term, it stays in its log, if it has one.
//
// Errors: ctx's; what has ended the batches.
func (r *running) drainBlocks(ctx context.Context) error {
	for allocated := r.c.blocks.waiting(); allocated != nil; allocated = r.c.blocks.waiting() {
		select {
		case <-allocated:
		case <-r.loopEnded:
			return r.c.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// drop ends everything that still runs and does not wait. Receivers end first: one that stores a block now learns from
// its ended context that it is lost.
func (r *running) drop() {
	r.stopReceivers()
	r.c.blocks.close()
	r.slots.close() // before the jobs that run are cancelled, or their slots would take the next ones
	r.cancel()
}

// awaitEnd waits until the goroutines of wg have ended; false where functions of the program that ignore their
// context keep them for too long.
func (r *running) awaitEnd(wg *sync.WaitGroup) bool {
	ended := make(chan struct{})
	r.stop.Go(func() {
		defer close(ended)
		wg.Wait()
	})
	return within(r.c.opts.patience(), ended)
}

// within waits until done is closed, at most so long; 0 waits for ever.
func within(limit time.Duration, done <-chan struct{}) bool {
	if limit == 0 {
		<-done
		return true
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// finish makes the context Stopped and tells those who wait.
func (c *Context) finish() {
	c.graph.Seal(dstream.ErrContextStopped)
	c.engine.stages.reset()
	if c.opts.Engine != nil && c.engine.active.Load() == c {
		c.engine.left = c.graph.Scopes(c.Pending())
	}
	c.engine.active.CompareAndSwap(c, nil)
	c.mu.Lock()
	c.state = Stopped
	c.mu.Unlock()
	close(c.outcome.stopped)
}

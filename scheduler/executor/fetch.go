package executor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// Fetch reads the buckets for one reducer, in map order.
func (e *env) Fetch(ctx context.Context, s *lineage.Shuffle, reduce int, yield func(mapPart int, b lineage.Block) error) error {
	i := slices.IndexFunc(e.task.Inputs, func(in scheduler.Input) bool { return in.Shuffle == s.ID })
	if i < 0 {
		return e.fetchFailed(s, -1, reduce, "", errNoOutput)
	}
	var f *fetcher
	defer func() { // also after a panic
		if f != nil && f.pinned != nil {
			f.pinned.pins.Add(-1)
		}
	}()
	for m, out := range e.task.Inputs[i].Maps {
		if out.Executor == "" {
			return e.fetchFailed(s, m, reduce, "", errNoOutput)
		}
		if !out.Sizes.Has(reduce) {
			continue
		}
		if ctx.Err() != nil {
			return fmt.Errorf("fetch shuffle %s reduce %d: %w", s.ID, reduce, context.Cause(ctx))
		}
		if f == nil {
			f = &fetcher{env: e, shuffle: s, reduce: reduce, yield: yield}
		}
		f.mapPart, f.taken = m, 0
		var err error
		if out.Executor == e.executor.opts.ID {
			err = f.own()
		} else {
			err = f.remote(ctx, out.Executor)
		}
		if f.stop != nil {
			return f.stop
		}
		if err != nil {
			if ctx.Err() != nil { // nobody's output is at fault
				return fmt.Errorf("fetch shuffle %s reduce %d: %w", s.ID, reduce, context.Cause(ctx))
			}
			return e.fetchFailed(s, m, reduce, out.Executor, err)
		}
	}
	return nil
}

// A fetcher reads one bucket after the other.
type fetcher struct {
	env     *env
	shuffle *lineage.Shuffle
	reduce  int
	yield   func(mapPart int, b lineage.Block) error

	outputs *outputs // of this executor; nil until one is needed
	pinned  *stored  // the output that is being read, if it is in memory
	mapPart int
	taken   int       // blocks of the bucket
	waiting bool      // for another executor
	clock   waitClock // of waiting
	stop    error     // of yield
}

// own reads a bucket of this executor that is known not to be empty. Blocks that lie in memory as they are
// are most of what is ever read, so they are handed on without further ado.
func (f *fetcher) own() (err error) {
	st := f.env.executor.store
	if f.outputs == nil {
		if f.outputs = st.outputs(f.shuffle.ID); f.outputs == nil {
			return errNoBucket
		}
	}
	held := st.swapPin(f.outputs, f.mapPart, &f.pinned)
	switch {
	case held == nil || f.env.executor.opts.Isolate:
		err = st.bucket(f.outputs, f.mapPart, f.reduce, 0, f.take)
	case f.reduce < len(held):
		for i := range held[f.reduce] {
			if err = f.take(held[f.reduce][i]); err != nil {
				break
			}
		}
	}
	f.env.metrics.LocalBlocks += int64(f.taken)
	if err == nil && f.taken == 0 {
		err = errNoBucket
	}
	return err
}

// remote reads a bucket of another executor that is known not to be empty. What was not sent whole is asked for
// once more, from where it broke off.
func (f *fetcher) remote(ctx context.Context, from scheduler.ExecutorID) error {
	peers := f.env.executor.opts.Peers
	if peers == nil {
		return errNoBucket
	}
	f.waiting, f.clock = true, newWaitClock(&f.env.metrics.WaitTime)
	defer func() {
		f.clock.pause()
		f.waiting = false
		f.env.metrics.RemoteBlocks += int64(f.taken)
	}()
	for again := false; ; again = true {
		err := peers.Bucket(ctx, from, f.shuffle.ID, f.mapPart, f.reduce, f.taken, f.take)
		if err == nil && f.taken == 0 {
			err = errNoBucket
		}
		if err == nil || f.stop != nil || again || ctx.Err() != nil {
			return err
		}
	}
}

// take hands a block on.
func (f *fetcher) take(h Held) error {
	if f.waiting {
		f.clock.pause()
		defer f.clock.resume()
	}
	b, err := f.env.open(h, f.shuffle.Codec)
	if err != nil {
		return err
	}
	f.taken++
	f.env.metrics.FetchedBytes += h.Size()
	f.stop = f.yield(f.mapPart, b)
	return f.stop
}

func (e *env) fetchFailed(s *lineage.Shuffle, mapPart, reduce int, from scheduler.ExecutorID, err error) error {
	fe := &scheduler.FetchError{Shuffle: s.ID, Map: mapPart, Reduce: reduce, Executor: from, Err: err}
	if e.fetch == nil {
		e.fetch = fe
	}
	return fe
}

// A waitClock adds to sum the time in which it is not paused.
type waitClock struct {
	sum    *int64
	since  time.Time
	paused bool
}

func newWaitClock(sum *int64) waitClock { return waitClock{sum: sum, since: time.Now()} }

func (c *waitClock) pause() {
	if !c.paused {
		c.paused = true
		*c.sum += int64(time.Since(c.since))
	}
}

func (c *waitClock) resume() { c.paused, c.since = false, time.Now() }

package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// An env is the executor as one running task sees it. It belongs to the task's goroutine.
type env struct {
	executor *Executor
	task     *scheduler.Task
	stored   []scheduler.CachedBlock
	fetch    *scheduler.FetchError // the first fetch failure, remembered whatever the task makes of it
	metrics  lineage.Metrics
	scratch  []*scratch
	parts    []part // of accumulators
}

// A part is the task's own part of an accumulator.
type part struct {
	of    *lineage.Accumulator
	value lineage.Block
}

var _ lineage.Env = (*env)(nil)

var (
	errNoOutput = errors.New("the output is not registered")
	errNoBucket = errors.New("the executor does not hold it")
)

func (e *env) Attempt() lineage.Attempt       { return e.task.Attempt }
func (e *env) Properties() lineage.Properties { return e.task.Properties }
func (e *env) Metrics() *lineage.Metrics      { return &e.metrics }

func (e *env) Reserve(context.Context, int64) bool { return true }
func (e *env) Release(int64)                       {}

// Scratch makes a temporary file.
func (e *env) Scratch() (lineage.Scratch, error) {
	f, err := os.CreateTemp("", "leat-scratch-*")
	if err != nil {
		return nil, err
	}
	s := &scratch{File: f}
	e.scratch = append(e.scratch, s)
	return s, nil
}

type scratch struct {
	*os.File
	closed bool
}

func (s *scratch) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(s.File.Close(), os.Remove(s.Name()))
}

// Broadcast decodes a value for this task.
func (e *env) Broadcast(ctx context.Context, b *lineage.Broadcast) (lineage.Block, error) {
	data, err := b.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	return b.Codec.Decode(data)
}

// Accumulate returns the task's own part of an accumulator.
func (e *env) Accumulate(a *lineage.Accumulator) lineage.Block {
	for _, p := range e.parts {
		if p.of == a {
			return p.value
		}
	}
	e.parts = append(e.parts, part{of: a, value: a.Zero()})
	return e.parts[len(e.parts)-1].value
}

// Commit asks whether this attempt may make its output visible.
func (e *env) Commit(context.Context) error { return nil }

// Persisted looks in the own store, then at the executors the task was told of, and computes what
// none of them has. What came from another executor is not kept here.
func (e *env) Persisted(ctx context.Context, node lineage.NodeID, part int, p lineage.Persistence, compute func(put func(lineage.Block) error) error, yield func(lineage.Block) error) error {
	id := scheduler.BlockID{Node: node, Part: part}
	st := e.executor.store
	for {
		en, mine := st.claim(id)
		if mine {
			held, err := e.fill(ctx, id, en, p, compute)
			if err != nil {
				return err
			}
			return e.read(id, held, p.Codec, yield)
		}
		select {
		case <-en.ready:
		default:
			select {
			case <-en.ready:
			case <-ctx.Done():
				return fmt.Errorf("wait for partition %d of %s: %w", part, node, context.Cause(ctx))
			}
		}
		if en.ok {
			return e.read(id, en.held, p.Codec, yield)
		}
		// Whoever was making it failed, or read it from elsewhere: try again.
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
}

// read yields the blocks of a partition.
func (e *env) read(id scheduler.BlockID, held []Held, codec lineage.Codec, yield func(lineage.Block) error) error {
	for _, h := range held {
		b, err := h.open(codec)
		if err != nil {
			return &scheduler.CodecError{Doing: fmt.Sprintf("read partition %d of %s", id.Part, id.Node), Err: err}
		}
		if err := yield(b); err != nil {
			return err
		}
	}
	return nil
}

// fill makes the blocks of a claimed entry, and gives the claim up however that ends.
func (e *env) fill(ctx context.Context, id scheduler.BlockID, en *entry, p lineage.Persistence, compute func(put func(lineage.Block) error) error) ([]Held, error) {
	st := e.executor.store
	settled := false
	settle := func(held []Held, ok bool) bool {
		settled = true
		return st.settle(id, en, held, ok)
	}
	defer func() {
		if !settled { // compute panicked
			settle(nil, false)
		}
	}()
	if held, ok := e.remote(ctx, id, p.Codec); ok {
		settle(nil, false)
		return held, nil
	}
	var held []Held
	err := compute(func(b lineage.Block) error {
		h := Held{Block: b}
		if e.executor.opts.Isolate {
			h.Block = nil
			var err error
			if h.Data, err = encode("persisted partition", p.Codec, b); err != nil {
				return err
			}
		}
		held = append(held, h)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if settle(held, true) {
		e.stored = append(e.stored, scheduler.CachedBlock{BlockID: id, Executors: []scheduler.ExecutorID{e.executor.opts.ID}})
	}
	return held, nil
}

// remote reads a partition from the first executor that still has it. One that cannot be read is as
// good as absent.
func (e *env) remote(ctx context.Context, id scheduler.BlockID, codec lineage.Codec) ([]Held, bool) {
	peers := e.executor.opts.Peers
	i := slices.IndexFunc(e.task.Cached, func(c scheduler.CachedBlock) bool { return c.BlockID == id })
	if i < 0 || peers == nil {
		return nil, false
	}
next:
	for _, from := range e.task.Cached[i].Executors {
		if from == e.executor.opts.ID {
			continue
		}
		held, err := peers.Persisted(ctx, from, id)
		if err != nil {
			continue
		}
		for k, h := range held {
			b, err := h.open(codec)
			if err != nil {
				continue next
			}
			held[k] = Held{Block: b}
		}
		return held, true
	}
	return nil, false
}

// Fetch reads the buckets for one reducer, in map order.
func (e *env) Fetch(ctx context.Context, s *lineage.Shuffle, reduce int, yield func(mapPart int, b lineage.Block) error) error {
	i := slices.IndexFunc(e.task.Inputs, func(in scheduler.Input) bool { return in.Shuffle == s.ID })
	if i < 0 {
		return e.fetchFailed(s, -1, reduce, "", errNoOutput)
	}
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
		bucket, err := e.bucket(ctx, out.Executor, s.ID, m, reduce)
		if err != nil {
			if ctx.Err() != nil { // nobody's output is at fault
				return fmt.Errorf("fetch shuffle %s reduce %d: %w", s.ID, reduce, context.Cause(ctx))
			}
			return e.fetchFailed(s, m, reduce, out.Executor, err)
		}
		for _, held := range bucket {
			b, err := held.open(s.Codec)
			if err != nil {
				return e.fetchFailed(s, m, reduce, out.Executor, err)
			}
			if err := yield(m, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// bucket reads a bucket that is known not to be empty.
func (e *env) bucket(ctx context.Context, from scheduler.ExecutorID, id lineage.ShuffleID, mapPart, reduce int) (held []Held, err error) {
	switch {
	case from == e.executor.opts.ID:
		var ok bool
		if held, ok = e.executor.store.bucket(id, mapPart, reduce); !ok {
			return nil, errNoBucket
		}
	case e.executor.opts.Peers == nil:
		return nil, errNoBucket
	default:
		if held, err = e.executor.opts.Peers.Bucket(ctx, from, id, mapPart, reduce); err != nil {
			return nil, err
		}
	}
	if len(held) == 0 {
		return nil, errNoBucket
	}
	return held, nil
}

func (e *env) fetchFailed(s *lineage.Shuffle, mapPart, reduce int, from scheduler.ExecutorID, err error) error {
	fe := &scheduler.FetchError{Shuffle: s.ID, Map: mapPart, Reduce: reduce, Executor: from, Err: err}
	if e.fetch == nil {
		e.fetch = fe
	}
	return fe
}

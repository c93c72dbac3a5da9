package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// An env is the executor as one running task sees it. It belongs to the task's goroutine.
type env struct {
	executor *Executor
	task     *scheduler.Task
	stored   []scheduler.BlockID
	fetch    *scheduler.FetchError // the first fetch failure, remembered whatever the task makes of it
}

var _ lineage.Env = (*env)(nil)

var (
	errNoOutput = errors.New("the output is not registered")
	errNoBucket = errors.New("the executor does not hold it")
)

func (e *env) Attempt() lineage.Attempt { return e.task.Attempt }

// Persisted looks in the own store, then at the executors the task was told of, and computes what
// none of them has. What came from another executor is not kept here.
func (e *env) Persisted(ctx context.Context, node lineage.NodeID, part int, p lineage.Persistence, compute func() (lineage.Block, error)) (lineage.Block, error) {
	id := scheduler.BlockID{Node: node, Part: part}
	st := e.executor.store
	for {
		en, mine := st.claim(id)
		if mine {
			return e.fill(ctx, id, en, p, compute)
		}
		select {
		case <-en.ready:
		default:
			select {
			case <-en.ready:
			case <-ctx.Done():
				return nil, fmt.Errorf("wait for partition %d of %s: %w", part, node, context.Cause(ctx))
			}
		}
		if en.ok {
			b, err := en.held.open(p.Codec)
			if err != nil {
				return nil, &scheduler.CodecError{Doing: fmt.Sprintf("read partition %d of %s", part, node), Err: err}
			}
			return b, nil
		}
		// Whoever was making it failed, or read it from elsewhere: try again.
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
}

// fill makes the block of a claimed entry, and gives the claim up however that ends.
func (e *env) fill(ctx context.Context, id scheduler.BlockID, en *entry, p lineage.Persistence, compute func() (lineage.Block, error)) (lineage.Block, error) {
	st := e.executor.store
	settled := false
	settle := func(held Held, ok bool) bool {
		settled = true
		return st.settle(id, en, held, ok)
	}
	defer func() {
		if !settled { // compute panicked
			settle(Held{}, false)
		}
	}()
	if b, ok := e.remote(ctx, id, p.Codec); ok {
		settle(Held{}, false)
		return b, nil
	}
	b, err := compute()
	if err != nil {
		return nil, err
	}
	held := Held{Block: b}
	if e.executor.opts.Isolate && b != nil {
		held.Block = nil
		if held.Data, err = encode("persisted partition", p.Codec, b); err != nil {
			return nil, err
		}
		// The maker reads its own copy too, so that nobody's changes reach anybody.
		if b, err = held.open(p.Codec); err != nil {
			return nil, &scheduler.CodecError{Doing: fmt.Sprintf("read partition %d of %s", id.Part, id.Node), Err: err}
		}
	}
	if settle(held, true) {
		e.stored = append(e.stored, id)
	}
	return b, nil
}

// remote reads a partition from the first executor that still has it. One that cannot be read is as
// good as absent.
func (e *env) remote(ctx context.Context, id scheduler.BlockID, codec lineage.Codec) (lineage.Block, bool) {
	peers := e.executor.opts.Peers
	i := slices.IndexFunc(e.task.Cached, func(c scheduler.CachedBlock) bool { return c.BlockID == id })
	if i < 0 || peers == nil {
		return nil, false
	}
	for _, from := range e.task.Cached[i].Executors {
		if from == e.executor.opts.ID {
			continue
		}
		held, err := peers.Persisted(ctx, from, id)
		if err != nil {
			continue
		}
		if b, err := held.open(codec); err == nil {
			return b, true
		}
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
		if !out.Filled.Has(reduce) {
			continue
		}
		if ctx.Err() != nil {
			return fmt.Errorf("fetch shuffle %s reduce %d: %w", s.ID, reduce, context.Cause(ctx))
		}
		held, err := e.bucket(ctx, out.Executor, s.ID, m, reduce)
		if err != nil {
			if ctx.Err() != nil { // nobody's output is at fault
				return fmt.Errorf("fetch shuffle %s reduce %d: %w", s.ID, reduce, context.Cause(ctx))
			}
			return e.fetchFailed(s, m, reduce, out.Executor, err)
		}
		b, err := held.open(s.Codec)
		if err != nil {
			return e.fetchFailed(s, m, reduce, out.Executor, err)
		}
		if err := yield(m, b); err != nil {
			return err
		}
	}
	return nil
}

// bucket reads a bucket that is known not to be empty.
func (e *env) bucket(ctx context.Context, from scheduler.ExecutorID, id lineage.ShuffleID, mapPart, reduce int) (held Held, err error) {
	switch {
	case from == e.executor.opts.ID:
		var ok bool
		if held, ok = e.executor.store.bucket(id, mapPart, reduce); !ok {
			return Held{}, errNoBucket
		}
	case e.executor.opts.Peers == nil:
		return Held{}, errNoBucket
	default:
		if held, err = e.executor.opts.Peers.Bucket(ctx, from, id, mapPart, reduce); err != nil {
			return Held{}, err
		}
	}
	if held.Block == nil && held.Data == nil {
		return Held{}, errNoBucket
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

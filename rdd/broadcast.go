package rdd

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
)

// A Broadcast is a read-only value that is sent to each executor once and shared by its tasks: a lookup table, a
// model. Closures that tasks run capture the Broadcast and ask it for the value.
//
// When no handle of it can be reached any more, executors are told to forget the value.
type Broadcast[T any] struct {
	home   *shared
	site   string
	spec   *lineage.Broadcast
	pieces *pieces

	mu  sync.Mutex   // guards own
	own *rowBlock[T] // the driver's copy, once it was asked for
}

// NewBroadcast returns the broadcast of a value. The value is encoded at once: what is changed in it afterwards
// tasks do not see.
//
// Cost: one encoding by package codec, kept here until Destroy; executors decode it once each.
// Errors: *codec.TypeError for a value without an exact encoding; ErrArgument for an RDD; ErrStopped.
func NewBroadcast[T any](c *Context, value T) (*Broadcast[T], error) {
	site := c.callSite()
	if c.stopped.Load() {
		return nil, ErrStopped
	}
	if _, is := any(value).(interface{ Node() lineage.Node }); is {
		return nil, &BuildError{Op: "broadcast", Site: site, Err: fmt.Errorf("%w: an RDD cannot be broadcast", ErrArgument)}
	}
	rows := new(rowCodec[T])
	var data []byte
	err := guarded(func() (err error) { // the value's own methods may encode it
		data, err = rows.Encode(&rowBlock[T]{rows: []T{value}})
		return err
	})
	if err != nil {
		return nil, &BuildError{Op: "broadcast", Site: site, Err: err}
	}
	p := newPieces(data, site)
	b := &Broadcast[T]{home: c.shared, site: site, pieces: p, spec: &lineage.Broadcast{
		ID: lineage.BroadcastID(c.values.lastBroadcast.Add(1)), Codec: rows, Fetch: p.fetch,
	}}
	if !c.opts.KeepUnreachable {
		// The argument must not lead back to b, or b would be reachable for ever.
		runtime.AddCleanup(b, func(left remains) { left.home.unreachable.add(left.drop) },
			remains{home: c.shared, drop: lineage.Drop{Broadcasts: []lineage.BroadcastID{b.spec.ID}}})
	}
	return b, nil
}

// Value returns the value. In a task, whose context ctx must be, it is the one that all tasks of the executor
// share and that nobody may change; elsewhere it is a copy of the program's own, the same at each call.
//
// Cost: in a task a look-up, the first one on an executor reads and decodes the value. Element functions ask once
// a partition, in the set-up of MapWith.
// Errors: ErrDestroyed after Destroy; ErrDifferentContexts in a task of another context's job.
func (b *Broadcast[T]) Value(ctx context.Context) (T, error) {
	rows, err := b.rows(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return rows.rows[0], nil
}

func (b *Broadcast[T]) rows(ctx context.Context) (*rowBlock[T], error) {
	if err := b.pieces.alive(); err != nil {
		return nil, err
	}
	if t := taskOf(ctx); t != nil {
		if t.home != b.home {
			return nil, &BuildError{Op: "broadcast", Site: b.site, Err: ErrDifferentContexts}
		}
		block, err := t.env.Broadcast(ctx, b.spec)
		if err != nil {
			return nil, fmt.Errorf("broadcast of %s: %w", b.site, err)
		}
		return single[T](block)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.own != nil {
		return b.own, nil
	}
	data, err := b.pieces.fetch(ctx)
	if err != nil {
		return nil, err
	}
	var block lineage.Block
	err = guarded(func() (err error) {
		block, err = b.spec.Codec.Decode(data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("broadcast of %s: %w", b.site, err)
	}
	b.own, err = single[T](block)
	return b.own, err
}

// single returns a block that must hold one record.
func single[T any](block lineage.Block) (*rowBlock[T], error) {
	rows, ok := block.(*rowBlock[T])
	if !ok || len(rows.rows) != 1 {
		return nil, &codec.CorruptError{Reason: fmt.Sprintf("not one %T", *new(T))}
	}
	return rows, nil
}

// Unpersist drops the copies of executors, and the program's own. The value is sent again where it is asked for.
func (b *Broadcast[T]) Unpersist() {
	b.mu.Lock()
	b.own = nil
	b.mu.Unlock()
	b.home.runner.Drop(lineage.Drop{Broadcasts: []lineage.BroadcastID{b.spec.ID}})
}

// Destroy drops the value everywhere. Whoever asks for it afterwards, tasks too, gets ErrDestroyed.
func (b *Broadcast[T]) Destroy() {
	b.pieces.destroy()
	b.Unpersist()
}

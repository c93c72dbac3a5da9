package executor

import (
	"fmt"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// Bucket yields the blocks of a shuffle bucket this executor holds, from number first on.
//
// Errors: that of yield unchanged; another if the output is damaged, which is then forgotten.
func (e *Executor) Bucket(id lineage.ShuffleID, mapPart, reduce, first int, yield func(Held) error) error {
	return e.store.bucket(e.store.outputs(id), mapPart, reduce, first, yield)
}

// Persisted yields the blocks of a persisted partition this executor holds. One that is being
// computed is not there yet.
//
// Errors: that of yield unchanged; another if the partition is damaged, which is then forgotten.
func (e *Executor) Persisted(id scheduler.BlockID, yield func(Held) error) error {
	v, ok := e.store.look(id)
	if !ok {
		return errNoBucket
	}
	defer v.close()
	damage, stop := v.read(0, 0, yield)
	if damage != nil {
		if e.store.drop(v.st) {
			e.lost([]scheduler.BlockID{id})
		}
		return damage
	}
	return stop
}

// Store keeps a copy of another executor's partition, if there is room. One that is there, or being made,
// stays.
func (e *Executor) Store(id scheduler.BlockID, p lineage.Persistence, blocks func(yield func(Held) error) error) error {
	v, en, mine := e.store.claim(id)
	switch {
	case en == nil:
		v.close()
		return nil
	case !mine:
		return fmt.Errorf("store a copy of partition %d of %s: it is being made", id.Part, id.Node)
	}
	settled := false
	defer func() { // also after a panic
		if !settled {
			e.store.settle(id, en, nil)
		}
	}()
	st := &stored{owner: ofNode(id.Node), part: id.Part, level: p.Level, codec: p.Codec}
	k := newKeeper(e.store, st, e.opts.Isolate, new(lineage.Metrics))
	defer k.close()
	if err := blocks(k.add); err != nil {
		return fmt.Errorf("store a copy of partition %d of %s: %w", id.Part, id.Node, err)
	}
	st, err := k.finish()
	if err != nil {
		return fmt.Errorf("store a copy of partition %d of %s: %w", id.Part, id.Node, err)
	}
	settled = true
	v, kept := e.store.settle(id, en, st)
	v.close()
	if !kept {
		e.store.drop(st)
		return fmt.Errorf("store a copy of partition %d of %s: %w", id.Part, id.Node, errNoRoom)
	}
	return nil
}

// Holds reports whether the executor holds a persisted partition.
func (e *Executor) Holds(id scheduler.BlockID) bool { return e.store.holds(id) }

// Drop forgets blocks.
func (e *Executor) Drop(d lineage.Drop) {
	e.store.forget(d)
	e.broadcasts.drop(d.Broadcasts)
}

// Clear forgets all blocks.
func (e *Executor) Clear() {
	e.store.clear(false)
	e.broadcasts.clear()
}

// Close forgets all blocks, keeps none from then on, and removes the executor's files. Tasks that still
// run cannot make new ones. It may be called more than once.
func (e *Executor) Close() error {
	e.store.clear(true)
	e.broadcasts.clear()
	return e.disk.close()
}

// Blocks returns how many shuffle outputs and persisted partitions the executor holds.
func (e *Executor) Blocks() (mapOutputs, persisted int) { return e.store.count() }

// Memory returns the bytes that tasks have reserved and that blocks in memory take.
func (e *Executor) Memory() (reserved, stored int64) { return e.pool.sums() }

package rdd

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/keyed"
)

// CombineByKey returns one pair per key: its values folded into a combiner. create makes a
// combiner of a key's first value in a partition, mergeValue adds a value to one, mergeCombiners
// joins those of different partitions. The functions may change their first argument, not the
// second.
//
// Shape: at most one pair per key; partitions by the options, else the parents' (see
// NumPartitions); the chosen partitioner. Keys come in the order they were first seen, map
// partitions in order.
// Cost: one table entry per key in each task. On the map side each key is sent at most once per
// map partition; without map-side combining every record is sent. Where the parent already has
// the partitioner there is no shuffle and mergeCombiners is never called.
// Errors: a panic of a function is a *UserError naming this call and the partition; a key type
// without value identity is keyed.ErrBadKeyType.
// Source: Dean and Ghemawat, "MapReduce", OSDI 2004, section "Combiner Function".
func CombineByKey[K comparable, V, C any](r *RDD[Pair[K, V]], create func(V) C, mergeValue func(C, V) C, mergeCombiners func(C, C) C, opts ...KeyOption) *RDD[Pair[K, C]] {
	if create == nil || mergeValue == nil || mergeCombiners == nil {
		return broken[Pair[K, C]](r.ctx, "combineByKey", ErrNilFunction)
	}
	return combine(r, "combineByKey", combiner[Pair[K, V], K, C]{
		key:   keyOf[K, V],
		add:   func(t *keyed.Table[K, C], rows []Pair[K, V]) { keyed.Combine(t, rows, create, mergeValue) },
		merge: mergeCombiners,
	}, opts)
}

// combiner is how an operation folds records by key: key finds a record's key, add takes records
// into a table, merge joins the combiners of two tables.
type combiner[T any, K comparable, C any] struct {
	key   func(*T) K
	add   func(t *keyed.Table[K, C], rows []T)
	merge func(C, C) C
}

func keyOf[K, V any](p *Pair[K, V]) K { return p.Key }

// combine is the aggregation that ReduceByKey, CombineByKey and their kin share.
func combine[T any, K comparable, C any](r *RDD[T], op string, c combiner[T, K, C], opts []KeyOption) *RDD[Pair[K, C]] {
	o := keyOptionsOf(opts)
	p, h, err := placement[K](r.ctx, o, &r.base)
	if err != nil {
		return broken[Pair[K, C]](r.ctx, op, err).preferring(r.err)
	}
	child := newNode[Pair[K, C]](r.ctx, op)
	child.inherit(r.err)
	child.partitioner = p
	child.count = fixed(p.NumPartitions())
	fold := folder[T, K, C]{node: &child.base, hasher: h, combiner: c}

	if o.noCombine || r.partitioner != nil && r.partitioner.Equal(p) {
		in := newInput(&child.base, 0, r, p, bucketOf(h, p, c.key))
		child.setDeps([]lineage.Dep{in.dep})
		child.compute = func(t *task, part int, out sink[Pair[K, C]]) error {
			table, err := fold.rows(part, func(out sink[T]) error { return in.push(t, part, out) })
			if err != nil {
				return err
			}
			return pushTable(t, table, out)
		}
		return child
	}
	s := &lineage.Shuffle{
		ID:     lineage.ShuffleID{Node: child.id},
		Parent: r.Node(), NumReducers: p.NumPartitions(),
		Codec: &combinedCodec[K, C]{hasher: h},
	}
	s.Write = func(ctx context.Context, env lineage.Env, part int, out lineage.Buckets) error {
		t := newTask(ctx, env)
		table, err := fold.rows(part, func(out sink[T]) error { return r.read(t, part, out) })
		if err != nil {
			return err
		}
		blocks, err := splitTable(&place{node: &child.base, part: part}, table, p)
		if err != nil {
			return err
		}
		for i, b := range blocks {
			if b != nil {
				if err := out.Put(i, b); err != nil {
					return err
				}
			}
		}
		return nil
	}
	child.setDeps([]lineage.Dep{{Parent: r.Node(), Shuffle: s}})
	child.compute = func(t *task, part int, out sink[Pair[K, C]]) error {
		return fold.pushBlocks(t, s, part, out)
	}
	return child
}

// preferring makes r return an earlier error of its parents instead of its own.
func (r *RDD[T]) preferring(earlier error) *RDD[T] {
	if earlier != nil {
		r.err = earlier
	}
	return r
}

// folder runs a combiner inside a task.
type folder[T any, K comparable, C any] struct {
	node   *base
	hasher *keyed.Hasher[K]
	combiner[T, K, C]
}

// rows folds the records of a partition into a table.
func (f *folder[T, K, C]) rows(part int, push func(sink[T]) error) (*keyed.Table[K, C], error) {
	at := place{node: f.node, part: part}
	table := keyed.New[K, C](f.hasher, 0)
	err := push(func(chunk []T) error {
		if f.hasher.Dynamic() {
			for i := range chunk {
				if err := f.hasher.Check(f.key(&chunk[i])); err != nil {
					return at.failed(i, err)
				}
			}
		}
		err := addChunk(&at, table, chunk, f.add)
		at.seen += int64(len(chunk))
		return err
	})
	return table, err
}

func addChunk[T any, K comparable, C any](at *place, table *keyed.Table[K, C], chunk []T, add func(*keyed.Table[K, C], []T)) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(table.Row(), v)
		}
	}()
	add(table, chunk)
	return nil
}

func mergeBlock[K comparable, C any](at *place, table *keyed.Table[K, C], block *keyed.Block[K, C], merge func(C, C) C, clone func(C) C) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(table.Row(), v)
		}
	}()
	keyed.Merge(table, block, merge, clone)
	return nil
}

// splitTable cuts a table into the buckets of a partitioner.
func splitTable[K comparable, C any](at *place, table *keyed.Table[K, C], p Partitioner[K]) (cut []*keyed.Block[K, C], err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	n := p.NumPartitions()
	if _, ok := p.(*HashPartitioner[K]); ok {
		return table.SplitHash(n), nil
	}
	if cut, err = table.Split(n, p.PartitionFor); err != nil {
		return nil, at.failed(-1, fmt.Errorf("%w: %s: %w", ErrPartitioner, p, err))
	}
	return cut, nil
}

// pushTable pushes a table's pairs in the order of their first insertion.
func pushTable[K comparable, C any](t *task, table *keyed.Table[K, C], out sink[Pair[K, C]]) error {
	var buf []Pair[K, C]
	for from := 0; from < table.Len(); from += chunkSize {
		if err := context.Cause(t.ctx); err != nil {
			return err
		}
		buf = table.Pairs(buf[:0], from, min(from+chunkSize, table.Len()))
		if err := out(buf); err != nil {
			return err
		}
	}
	return nil
}

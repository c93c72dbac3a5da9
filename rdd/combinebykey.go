package rdd

import (
	"context"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/keyed"
)

// CombineByKey returns one pair per key: its values folded into a combiner. create makes a
// combiner of a key's first value in a partition (see Cost for when it is called for more), mergeValue adds a value to one, mergeCombiners
// joins those of different partitions. The functions may change their first argument, not the
// second.
//
// Shape: at most one pair per key; partitions by the options, else the parents' (see
// NumPartitions); the chosen partitioner. Keys come in the order they were first seen, map
// partitions in order.
// Cost: one table entry per key in each task; keys for which there is no memory, and combiners that grow
// beyond it, go through scratch files. On the map side each key is sent at most once per map partition,
// unless combining turns out to be of no use: where the first 65,536 records of a map partition have keys more
// than three quarters of which are different, each further record of it is sent by itself, as create makes a
// combiner of it. That depends on the records alone, so a partition is the same however often it is
// computed. WithoutMapSideCombine sends every record. Where the parent already has the partitioner there is no
// shuffle and mergeCombiners is never called.
// Errors: a panic of a function is a *UserError naming this call and the partition; a key type
// without value identity is keyed.ErrBadKeyType.
// Source: Dean and Ghemawat, "MapReduce", OSDI 2004, section "Combiner Function".
func CombineByKey[K comparable, V, C any](r *RDD[Pair[K, V]], create func(V) C, mergeValue func(C, V) C, mergeCombiners func(C, C) C, opts ...KeyOption) *RDD[Pair[K, C]] {
	if create == nil || mergeValue == nil || mergeCombiners == nil {
		return broken[Pair[K, C]](r.ctx, "combineByKey", ErrNilFunction)
	}
	return combine(r, "combineByKey", combiner[Pair[K, V], K, C]{
		key:    keyOf[K, V],
		add:    func(t *keyed.Table[K, C], rows []Pair[K, V]) { keyed.Combine(t, rows, create, mergeValue) },
		create: func(p *Pair[K, V]) C { return create(p.Value) },
		merge:  mergeCombiners,
	}, opts)
}

// combiner is how an operation folds records by key: key finds a record's key, add takes records
// into a table, merge joins the combiners of two tables. create makes the combiner of one record; where it is
// nil the map side combines whatever the records are.
type combiner[T any, K comparable, C any] struct {
	key    func(*T) K
	add    func(t *keyed.Table[K, C], rows []T)
	create func(*T) C
	merge  func(C, C) C
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
	fold := folder[T, K, C]{node: &child.base, hasher: h, combiner: c, records: &r.node.rows.columns, pairs: &child.rows.columns, size: o.size}

	if o.noCombine || r.partitioner != nil && r.partitioner.Equal(p) {
		in := newInput(&child.base, 0, r, p, bucketOf(h, p, c.key))
		child.setDeps([]lineage.Dep{in.dep})
		child.compute = func(t *task, part int, out sink[Pair[K, C]]) error {
			whole := t.takeAsking(&child.base).whole
			return fold.push(t, part, func(out sink[T]) error { return in.push(t, part, out) }, whole, out)
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
		return fold.write(t, part, func(out sink[T]) error { return r.read(t, part, out) }, p, out)
	}
	child.setDeps([]lineage.Dep{{Parent: r.Node(), Shuffle: s}})
	child.compute = func(t *task, part int, out sink[Pair[K, C]]) error {
		return fold.merged(t, s, part, t.takeAsking(&child.base).whole, out)
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

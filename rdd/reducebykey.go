package rdd

import (
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// ReduceByKey returns one pair per key: its values combined by f, which must be associative and
// commutative and may change its first argument, not its second.
//
// Shape: at most one pair per key; partitions and partitioner as CombineByKey; keys in the order
// first seen.
// Cost: as CombineByKey: combines before and after the shuffle, so that each key is sent at most once per
// map partition, unless keys hardly repeat.
// Errors: a panic of f is a *UserError naming this call and the partition; a key type without
// value identity is keyed.ErrBadKeyType.
// Source: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, table "Transformations".
func ReduceByKey[K comparable, V any](r *RDD[Pair[K, V]], f func(V, V) V, opts ...KeyOption) *RDD[Pair[K, V]] {
	if f == nil {
		return broken[Pair[K, V]](r.ctx, "reduceByKey", ErrNilFunction)
	}
	return combine(r, "reduceByKey", combiner[Pair[K, V], K, V]{
		key:    keyOf[K, V],
		add:    func(t *keyed.Table[K, V], rows []Pair[K, V]) { keyed.Reduce(t, rows, f, nil) },
		create: func(p *Pair[K, V]) V { return p.Value },
		merge:  f,
	}, opts)
}

// AggregateByKey returns one pair per key: zero with the key's values added by seq, the results of
// different map partitions joined by comb.
//
// Shape: as CombineByKey. zero enters once per key and map partition, as a deep copy: a zero that is
// not neutral gives answers that depend on the partitions.
// Cost and Errors: as CombineByKey, but the map side combines whatever the records are, as sending them one by one
// would let zero enter more often.
func AggregateByKey[K comparable, V, C any](r *RDD[Pair[K, V]], zero C, seq func(C, V) C, comb func(C, C) C, opts ...KeyOption) *RDD[Pair[K, C]] {
	if seq == nil || comb == nil {
		return broken[Pair[K, C]](r.ctx, "aggregateByKey", ErrNilFunction)
	}
	fresh := freshZero(zero)
	return combine(r, "aggregateByKey", combiner[Pair[K, V], K, C]{
		key: keyOf[K, V],
		add: func(t *keyed.Table[K, C], rows []Pair[K, V]) {
			keyed.Combine(t, rows, func(v V) C { return seq(fresh(), v) }, seq)
		},
		merge: comb,
	}, opts)
}

// FoldByKey is AggregateByKey with one function and values of one type.
func FoldByKey[K comparable, V any](r *RDD[Pair[K, V]], zero V, f func(V, V) V, opts ...KeyOption) *RDD[Pair[K, V]] {
	if f == nil {
		return broken[Pair[K, V]](r.ctx, "foldByKey", ErrNilFunction)
	}
	return renamed("foldByKey", AggregateByKey(r, zero, f, f, opts...))
}

// freshZero returns a function that gives a new copy of zero at every call.
func freshZero[C any](zero C) func() C {
	clone := codec.CloneFunc[C]()
	if clone == nil {
		return func() C { return zero }
	}
	own := clone(zero)
	return func() C { return clone(own) }
}

package rdd

import (
	"cmp"
	"slices"

	"github.com/leat-io/leat/lineage"
)

// RepartitionAndSortWithinPartitions returns the pairs, each in the partition that p sends its key
// to, sorted by key there.
//
// Shape: p's partitions and partitioner; duplicates stay.
// Order: ascending within a partition, NaN last; pairs with equal keys stay in the order of the map
// partitions and their rows. Nothing holds across partitions, unless p is a range partitioner.
// Cost: every record goes through a shuffle, none where r has p already; one sort of each partition, as
// SortBy's.
// Errors: an answer of p out of range is ErrPartitioner, as a task error.
func RepartitionAndSortWithinPartitions[K cmp.Ordered, V any](r *RDD[Pair[K, V]], p Partitioner[K]) *RDD[Pair[K, V]] {
	return RepartitionAndSortWithinPartitionsFunc(r, p, Compare[K])
}

// RepartitionAndSortWithinPartitionsFunc is RepartitionAndSortWithinPartitions with an order of
// its own, as SortByFunc.
func RepartitionAndSortWithinPartitionsFunc[K comparable, V any](r *RDD[Pair[K, V]], p Partitioner[K], compare func(a, b K) int) *RDD[Pair[K, V]] {
	const op = "repartitionAndSortWithinPartitions"
	switch {
	case p == nil:
		return broken[Pair[K, V]](r.ctx, op, ErrPartitioner).preferring(r.err)
	case compare == nil:
		return broken[Pair[K, V]](r.ctx, op, ErrNilFunction).preferring(r.err)
	}
	p, h, err := placement[K](r.ctx, keyOptions{partitioner: p}, &r.base)
	if err != nil {
		return broken[Pair[K, V]](r.ctx, op, err).preferring(r.err)
	}
	child := newNode[Pair[K, V]](r.ctx, op)
	child.inherit(r.err)
	child.partitioner = p
	child.count = fixed(p.NumPartitions())
	in := newKeyedInput(&child.base, 0, r, h, p)
	child.setDeps([]lineage.Dep{in.dep})
	child.compute = func(t *task, part int, out sink[Pair[K, V]]) error {
		runs := newSortRuns(t, &place{node: &child.base, part: part}, &child.node.rows.columns,
			func(x Pair[K, V]) K { return x.Key }, compare, false)
		defer runs.close()
		if err := in.push(t, part, runs.take); err != nil {
			return err
		}
		return runs.push(out)
	}
	return child
}

// sortRows sorts in place; equal rows stay as they are.
func sortRows[T any](at *place, rows []T, compare func(a, b T) int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	slices.SortStableFunc(rows, compare)
	return nil
}

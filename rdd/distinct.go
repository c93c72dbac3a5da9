package rdd

import (
	"slices"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/keyed"
)

// Distinct returns each record once, in the order first seen.
//
// Shape: partitions as asked for, by default as many as the parent has. Where the parent has a
// partitioner of that many partitions its records lie together already and the partitioner is
// kept; otherwise records go by their hash and there is no partitioner.
// Cost: as ReduceByKey over the records; no shuffle in the first case, in which records are passed on as they come
// while there is memory for those seen.
// Errors: a type without value identity is keyed.ErrBadKeyType.
func Distinct[T comparable](r *RDD[T], opts ...KeyOption) *RDD[T] {
	o := keyOptionsOf(opts)
	if r.partitioner != nil && o.partitioner == nil && (!o.hasN || o.n == r.partitioner.NumPartitions()) {
		return distinctInPlace(r)
	}
	if !o.hasN && o.partitioner == nil {
		n, err := r.NumPartitions()
		if err != nil {
			return broken[T](r.ctx, "distinct", err).preferring(r.err)
		}
		opts = append(slices.Clip(opts), NumPartitions(n))
	}
	marked := Map(r, func(x T) Pair[T, struct{}] { return Pair[T, struct{}]{Key: x} })
	first := ReduceByKey(marked, func(a, _ struct{}) struct{} { return a }, opts...)
	return renamed("distinct", Keys(first))
}

func distinctInPlace[T comparable](r *RDD[T]) *RDD[T] {
	h, err := keyed.HasherFor[T]()
	if err != nil {
		return broken[T](r.ctx, "distinct", err).preferring(r.err)
	}
	child := newNode[T](r.ctx, "distinct", lineage.OneToOne(r.Node()))
	child.inherit(r.err)
	child.count = r.NumPartitions
	child.partitioner = r.partitioner
	child.compute = func(t *task, part int, out sink[T]) error {
		d := newDistinction(t, &place{node: &child.base, part: part}, h, &child.node.rows.columns,
			func(rows []T, _ []int64) error { return out(rows) })
		defer d.close()
		if err := r.push(t, part, func(chunk []T) error { return d.take(chunk, nil) }); err != nil {
			return err
		}
		return d.finish()
	}
	return child
}

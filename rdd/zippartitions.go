package rdd

import (
	"errors"
	"iter"

	"github.com/leat-io/leat/lineage"
)

// ZipPartitions returns the records of f(x, y) for each pair of partitions x of a and y of b with
// the same index.
//
// Shape: f is called once a partition, for empty ones as well, and may range over each of its
// sequences once, one inside the other if it likes, and stop early; a's partitions; a's partitioner
// with PreservePartitioning, else none. Only the partition counts must match.
// Cost: narrow; nothing is held in memory but what f keeps.
// Errors: ErrLengths, before any task, where the partition counts differ; a panic of f is a
// *UserError naming this call and the partition.
func ZipPartitions[T, U, R any](a *RDD[T], b *RDD[U], f func(iter.Seq[T], iter.Seq[U]) iter.Seq[R], opts ...PartitionOption) *RDD[R] {
	if f == nil {
		return broken[R](a.ctx, "zipPartitions", ErrNilFunction)
	}
	var o partitionOptions
	for _, opt := range opts {
		opt(&o)
	}
	child := newNode[R](a.ctx, "zipPartitions", lineage.OneToOne(a.Node()), lineage.OneToOne(b.Node()))
	child.inherit(a.err, b.err)
	child.count = sameCount("zipPartitions", child.site, &a.base, &b.base)
	if o.preserve {
		child.partitioner = a.partitioner
	}
	child.compute = func(t *task, part int, out sink[R]) error {
		at := &place{node: &child.base, part: part}
		left, leftErr := a.seq(t, part)
		right, rightErr := b.seq(t, part)
		both := func(_ int, in iter.Seq[T]) iter.Seq[R] { return f(in, right) }
		err := drain(at, both, part, left, out)
		// What stopped an input is the cause of whatever f made of the short sequence.
		return errors.Join(*leftErr, *rightErr, err)
	}
	return child
}

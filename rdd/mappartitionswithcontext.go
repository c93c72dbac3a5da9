package rdd

import (
	"context"
	"iter"

	"github.com/leat-io/leat/lineage"
)

// MapPartitionsWithContext returns the RDD of the records of f(ctx, part, records) for each partition. ctx is the
// task's: TaskFrom, broadcasts and accumulators take it, it ends when the job is cancelled, and it refuses
// actions.
//
// Shape: f is called once a partition, for an empty one as well, and may stop reading early; same
// partitions; no partitioner unless PreservePartitioning is given.
// Cost: as MapPartitions.
// Errors: an error that the sequence yields ends it and is a *UserError naming this call and the partition, as is
// a panic.
func MapPartitionsWithContext[T, U any](r *RDD[T], f func(ctx context.Context, part int, in iter.Seq[T]) iter.Seq2[U, error], opts ...PartitionOption) *RDD[U] {
	if f == nil {
		return broken[U](r.ctx, "mapPartitionsWithContext", ErrNilFunction)
	}
	var o partitionOptions
	for _, opt := range opts {
		opt(&o)
	}
	child := newNode[U](r.ctx, "mapPartitionsWithContext", lineage.OneToOne(r.Node()))
	child.inherit(r.err)
	child.count = r.NumPartitions
	if o.preserve {
		child.partitioner = r.partitioner
	}
	child.compute = func(t *task, part int, out sink[U]) error {
		at := &place{node: &child.base, part: part}
		in, inErr := r.seq(t, part)
		var failure error
		err := drain(at, func(part int, in iter.Seq[T]) iter.Seq[U] {
			rows := f(t.ctx, part, in)
			if rows == nil {
				return nil
			}
			return untilError(rows, &failure)
		}, part, in, out)
		switch {
		case *inErr != nil:
			return *inErr // what stopped the input is the cause of whatever f made of the short sequence
		case failure != nil && err == nil:
			return at.failed(-1, failure)
		}
		return err
	}
	return child
}

// untilError returns the records of a sequence up to its first error, which it stores.
func untilError[T any](rows iter.Seq2[T, error], failure *error) iter.Seq[T] {
	return func(yield func(T) bool) {
		for x, err := range rows {
			if err != nil {
				*failure = err
				return
			}
			if !yield(x) {
				return
			}
		}
	}
}

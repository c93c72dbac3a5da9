package rdd

import "github.com/leat-io/leat/lineage"

// Glom returns one record for each partition: the slice of its records, empty for an empty one.
//
// Shape: exactly one record a partition; same partitions; no partitioner.
// Cost: each partition is held in memory whole.
func Glom[T any](r *RDD[T]) *RDD[[]T] {
	child := newNode[[]T](r.ctx, "glom", lineage.OneToOne(r.Node()))
	child.inherit(r.err)
	child.count = r.NumPartitions
	child.compute = func(t *task, part int, out sink[[]T]) error {
		rows := []T{}
		if err := r.push(t, part, func(chunk []T) error {
			rows = append(rows, chunk...)
			return nil
		}); err != nil {
			return err
		}
		return out([][]T{rows})
	}
	return child
}

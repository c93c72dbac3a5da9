package rdd

import "github.com/leat-io/leat/lineage"

// CountPartitions returns one record for each partition: how many records it has.
//
// Shape: exactly one record a partition; same partitions; no partitioner.
// Cost: no function call a record.
func CountPartitions[T any](r *RDD[T]) *RDD[int64] {
	child := newNode[int64](r.ctx, "countPartitions", lineage.OneToOne(r.Node()))
	child.inherit(r.err)
	child.count = r.NumPartitions
	child.compute = func(t *task, part int, out sink[int64]) error {
		var n int64
		if err := r.push(t, part, func(chunk []T) error {
			n += int64(len(chunk))
			return nil
		}); err != nil {
			return err
		}
		return out([]int64{n})
	}
	return child
}

package rdd

import (
	"context"
	"iter"
)

// ToLocalIterator returns the records in the order of Collect, a partition at a time. An error
// comes once, last, with a zero record.
//
// Cost: one job of one task for each partition, run when the reader gets there: no more than one
// partition is held in memory. A shuffle above runs once; what is above it otherwise is computed for
// each partition alone.
// Errors: what ended a partition's job.
func (r *RDD[T]) ToLocalIterator(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		n, err := r.NumPartitions()
		if err != nil {
			yield(zero, err)
			return
		}
		for part := range n {
			rows, err := collectPart(ctx, r, part)
			if err != nil {
				yield(zero, err)
				return
			}
			for _, x := range rows {
				if !yield(x, nil) {
					return
				}
			}
		}
	}
}

package rdd

import (
	"context"
)

// Collect returns all records, in partition order and within partitions in theirs.
//
// Cost: one task a partition; all records are held in memory.
// Errors: what ended the job, with the *UserError of a failed function inside it.
func (r *RDD[T]) Collect(ctx context.Context) ([]T, error) {
	parts, err := r.collect(ctx, "collect")
	if err != nil {
		return nil, err
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	all := make([]T, 0, size)
	for _, p := range parts {
		all = append(all, p...)
	}
	return all, nil
}

// CollectPartitions returns the records of each partition, in order.
//
// Cost and Errors: as Collect.
func (r *RDD[T]) CollectPartitions(ctx context.Context) ([][]T, error) {
	return r.collect(ctx, "collectPartitions")
}

func (r *RDD[T]) collect(ctx context.Context, name string) ([][]T, error) {
	n, err := r.NumPartitions()
	if err != nil {
		return nil, err
	}
	out := make([][]T, n)
	err = runRows(ctx, r.subject(), name, allParts(n), func(t *task, part int) (*rowBlock[T], error) {
		var rows rowBuffer[T]
		err := r.push(t, part, func(chunk []T) error {
			rows.add(compact(chunk))
			return nil
		})
		return &rowBlock[T]{rows: rows.take()}, err
	}, func(i int, rows []T) error {
		out[i] = rows
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Count returns the number of records, 0 without partitions.
//
// Cost: one task a partition.
func (r *RDD[T]) Count(ctx context.Context) (int64, error) {
	counts, err := everywhere(ctx, r.subject(), "count", func(t *task, part int) (int64, error) {
		var n int64
		err := r.push(t, part, func(chunk []T) error {
			n += int64(len(chunk))
			return nil
		})
		return n, err
	})
	var total int64
	for _, n := range counts {
		total += n
	}
	return total, err
}

package rdd

import (
	"context"
	"math"
)

// Take returns the first n records in partition order, fewer where there are not so many.
//
// Cost: a job on the first partition, then on the next ones, each time as many as what was found
// so far lets expect to be enough, at most four times as many as were read; each task stops as soon as it
// has what is wanted. n below 1 runs no job.
// Source: the growth rule is that of Spark's take.
func (r *RDD[T]) Take(ctx context.Context, n int) ([]T, error) {
	return r.take(ctx, "take", n)
}

func (r *RDD[T]) take(ctx context.Context, name string, n int) ([]T, error) {
	out := []T{}
	if n <= 0 {
		return out, r.err
	}
	parts, err := r.NumPartitions()
	if err != nil {
		return nil, err
	}
	for scanned := 0; scanned < parts && len(out) < n; {
		next := 1
		if scanned > 0 {
			next = scanned * 4
			if len(out) > 0 {
				guess := math.Ceil(1.5 * float64(n-len(out)) * float64(scanned) / float64(len(out)))
				next = int(min(max(guess, 1), float64(next)))
			}
		}
		next = min(next, parts-scanned)
		want := n - len(out)
		found := make([][]T, next)
		batch := make([]int, next)
		for i := range batch {
			batch[i] = scanned + i
		}
		err := runRows(ctx, r.subject(), name, batch, func(t *task, part int) (*rowBlock[T], error) {
			b := &rowBlock[T]{}
			err := r.some(t, part, func(chunk []T) error {
				if len(b.rows)+len(chunk) >= want {
					b.add(chunk[:want-len(b.rows)])
					return errStop
				}
				b.add(chunk)
				return nil
			})
			return b, err
		}, func(i int, rows []T) error {
			found[i] = rows
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, rows := range found {
			out = append(out, rows[:min(len(rows), n-len(out))]...)
		}
		scanned += next
	}
	return out, nil
}

// First returns the first record.
//
// Cost: as Take of 1.
// Errors: ErrEmpty without records.
func (r *RDD[T]) First(ctx context.Context) (T, error) {
	var zero T
	rows, err := r.take(ctx, "first", 1)
	if err != nil {
		return zero, err
	}
	if len(rows) == 0 {
		return zero, ErrEmpty
	}
	return rows[0], nil
}

// IsEmpty reports whether there are no records.
//
// Cost: as Take of 1.
func (r *RDD[T]) IsEmpty(ctx context.Context) (bool, error) {
	rows, err := r.take(ctx, "isEmpty", 1)
	return len(rows) == 0, err
}

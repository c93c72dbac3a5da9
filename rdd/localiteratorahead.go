package rdd

import (
	"context"
	"iter"
)

// ToLocalIteratorAhead is ToLocalIterator that computes the next partition while the reader is at one.
//
// Cost: as ToLocalIterator, but two partitions are held in memory. A reader that stops early cancels the job that is ahead
// and waits for its end.
// Errors: what ended a partition's job, when the reader gets there.
func ToLocalIteratorAhead[T any](ctx context.Context, r *RDD[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		n, err := r.NumPartitions()
		if err != nil {
			yield(zero, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		start := func(part int) *Future[[]T] {
			return background(ctx, r, func(ctx context.Context, r *RDD[T]) ([]T, error) { return collectPart(ctx, r, part) })
		}
		var next *Future[[]T]
		if n > 0 {
			next = start(0)
		}
		for part := range n {
			rows, err := next.Wait(context.WithoutCancel(ctx)) // its own job ends with ctx
			if err != nil {
				yield(zero, err)
				return
			}
			if part+1 < n {
				next = start(part + 1)
			}
			for _, x := range rows {
				if !yield(x, nil) {
					next.Cancel()
					_, _ = next.Wait(context.WithoutCancel(ctx))
					return
				}
			}
		}
	}
}

func collectPart[T any](ctx context.Context, r *RDD[T], part int) ([]T, error) {
	var rows []T
	err := runRows(ctx, r.subject(), "toLocalIterator", []int{part}, func(t *task, part int) (*rowBlock[T], error) {
		b := &rowBlock[T]{}
		err := r.push(t, part, func(chunk []T) error {
			b.add(chunk)
			return nil
		})
		return b, err
	}, func(_ int, result []T) error {
		rows = result
		return nil
	})
	return rows, err
}

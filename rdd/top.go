package rdd

import (
	"cmp"
	"context"
)

// Top returns the n largest records, descending, NaN first; fewer where there are not so many.
//
// Order, Cost and Errors: as TakeOrdered.
func Top[T cmp.Ordered](ctx context.Context, r *RDD[T], n int) ([]T, error) {
	return TopFunc(ctx, r, n, Compare[T])
}

// TopFunc is Top with an order of its own, as SortByFunc.
func TopFunc[T any](ctx context.Context, r *RDD[T], n int, compare func(a, b T) int) ([]T, error) {
	return takeOrdered(ctx, r, "top", n, ordering[T]{compare: compare, down: true})
}

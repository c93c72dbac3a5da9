package rdd

import "context"

// Mean returns the mean of all records, 0 without any.
//
// Order and Cost: as Stats.
func Mean[T Number](ctx context.Context, r *RDD[T]) (float64, error) {
	s, err := stats(ctx, r, "mean")
	return s.Mean, err
}

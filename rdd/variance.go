package rdd

import "context"

// Variance returns the mean squared distance of the records from their mean, NaN without any.
//
// Order and Cost: as Stats, which gives mean and bounds in the same pass.
func Variance[T Number](ctx context.Context, r *RDD[T]) (float64, error) {
	return spread(ctx, r, "variance", Statistics.Variance)
}

// StdDev returns the square root of Variance.
func StdDev[T Number](ctx context.Context, r *RDD[T]) (float64, error) {
	return spread(ctx, r, "stdDev", Statistics.StdDev)
}

// SampleVariance returns the estimate of the variance of what the records are a sample of, NaN for less than two.
//
// Order and Cost: as Variance.
func SampleVariance[T Number](ctx context.Context, r *RDD[T]) (float64, error) {
	return spread(ctx, r, "sampleVariance", Statistics.SampleVariance)
}

// SampleStdDev returns the square root of SampleVariance.
func SampleStdDev[T Number](ctx context.Context, r *RDD[T]) (float64, error) {
	return spread(ctx, r, "sampleStdDev", Statistics.SampleStdDev)
}

func spread[T Number](ctx context.Context, r *RDD[T], name string, of func(Statistics) float64) (float64, error) {
	s, err := stats(ctx, r, name)
	if err != nil {
		return 0, err
	}
	return of(s), nil
}

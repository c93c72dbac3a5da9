package rdd

import (
	"context"
	"math"
)

// Statistics describe numbers: how many, where and how far apart. The zero value is not that of no
// numbers; Stats makes one.
type Statistics struct {
	Count int64
	Mean  float64 // 0 without numbers
	// Deviations is the sum of the squared distances from the mean.
	Deviations float64
	Min        float64 // +Inf without numbers, NaN if there was a NaN
	Max        float64 // -Inf without numbers, NaN if there was a NaN
}

// Stats returns the count, mean, spread and bounds of all records.
//
// Order: partitions are joined in their order, so that the answer repeats.
// Cost: one task a partition, one pass.
// Source: the joining formula is that of Chan, Golub and LeVeque, "Updating Formulae and a Pairwise
// Algorithm for Computing Sample Variances", 1979; the running one is Welford's, 1962.
func Stats[T Number](ctx context.Context, r *RDD[T]) (Statistics, error) {
	return stats(ctx, r, "stats")
}

func stats[T Number](ctx context.Context, r *RDD[T], name string) (Statistics, error) {
	none := Statistics{Min: math.Inf(1), Max: math.Inf(-1)}
	return aggregate(ctx, r, name, none,
		func(s Statistics, x T) Statistics { return s.with(float64(x)) },
		Statistics.Join)
}

// with returns the statistics with one number more.
func (s Statistics) with(x float64) Statistics {
	s.Count++
	delta := x - s.Mean
	s.Mean += delta / float64(s.Count)
	s.Deviations += delta * (x - s.Mean)
	s.Min, s.Max = min(s.Min, x), max(s.Max, x)
	return s
}

// Join returns the statistics of the numbers of s and of other together.
func (s Statistics) Join(other Statistics) Statistics {
	if other.Count == 0 {
		return s
	}
	if s.Count == 0 {
		return other
	}
	n, m := float64(s.Count), float64(other.Count)
	delta := other.Mean - s.Mean
	return Statistics{
		Count:      s.Count + other.Count,
		Mean:       s.Mean + delta*m/(n+m),
		Deviations: s.Deviations + other.Deviations + delta*delta*n*m/(n+m),
		Min:        min(s.Min, other.Min),
		Max:        max(s.Max, other.Max),
	}
}

// Sum returns the sum, 0 without numbers.
func (s Statistics) Sum() float64 { return s.Mean * float64(s.Count) }

// Variance returns the mean squared distance from the mean, NaN without numbers.
func (s Statistics) Variance() float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	return s.Deviations / float64(s.Count)
}

// SampleVariance returns the estimate of the variance of what the numbers are a sample of, NaN for
// less than two.
func (s Statistics) SampleVariance() float64 {
	if s.Count < 2 {
		return math.NaN()
	}
	return s.Deviations / float64(s.Count-1)
}

// StdDev returns the square root of Variance.
func (s Statistics) StdDev() float64 { return math.Sqrt(s.Variance()) }

// SampleStdDev returns the square root of SampleVariance.
func (s Statistics) SampleStdDev() float64 { return math.Sqrt(s.SampleVariance()) }

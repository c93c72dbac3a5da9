package rdd

import (
	"context"
	"time"
)

// SumApprox returns the sum of all records if all partitions are added up within the timeout, and otherwise what those that
// are let expect. It ends as CountApprox does.
//
// Shape: see Estimate. The bounds come from how much the sums of the partitions differ; with fewer than two they are
// infinite.
// Order: partitions are joined in their order, so that a final answer repeats.
// Cost: at most as Sum.
// Errors: as CountApprox.
func SumApprox[T Number](ctx context.Context, r *RDD[T], timeout time.Duration, confidence float64) (Estimate, error) {
	parts, n, err := partialStats(ctx, r, "sumApprox", timeout, confidence)
	if err != nil {
		return Estimate{}, err
	}
	var sum float64
	var totals Statistics
	for _, s := range parts {
		sum += s.Sum
		totals = totals.with(s.Sum)
	}
	if len(parts) == n {
		return exactly(sum), nil
	}
	return clusterTotal(totals, n, confidence), nil
}

// sumCount is what SumApprox and MeanApprox know of a partition.
type sumCount struct {
	Sum   float64
	Count int64
}

func partialStats[T Number](ctx context.Context, r *RDD[T], name string, timeout time.Duration, confidence float64) ([]sumCount, int, error) {
	return within(ctx, r.subject(), name, timeout, confidence, func(t *task, part int) (sumCount, error) {
		var s sumCount
		err := r.push(t, part, func(chunk []T) error {
			sum := s.Sum
			for _, x := range chunk {
				sum += float64(x)
			}
			s = sumCount{Sum: sum, Count: s.Count + int64(len(chunk))}
			return nil
		})
		return s, err
	})
}

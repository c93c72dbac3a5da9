package rdd

import (
	"context"
	"math"
	"time"
)

// MeanApprox returns the mean of all records if all partitions are read within the timeout, and otherwise the mean of those
// that are. It ends as CountApprox does; 0 without records.
//
// Shape: see Estimate. The bounds come from how much the sums of the partitions differ from what their counts let expect;
// with fewer than two partitions they are infinite.
// Order and Cost: as SumApprox.
// Errors: as CountApprox.
// Source: Cochran, "Sampling Techniques", 3rd edition, 1977, chapter on ratio estimators.
func MeanApprox[T Number](ctx context.Context, r *RDD[T], timeout time.Duration, confidence float64) (Estimate, error) {
	parts, n, err := partialStats(ctx, r, "meanApprox", timeout, confidence)
	if err != nil {
		return Estimate{}, err
	}
	return ratio(parts, n, confidence), nil
}

// ratio estimates sum by count over n partitions of which some are known.
func ratio(parts []sumCount, n int, confidence float64) Estimate {
	var sum, count float64
	for _, s := range parts {
		sum += s.Sum
		count += float64(s.Count)
	}
	mean := 0.0
	if count > 0 {
		mean = sum / count
	}
	m := float64(len(parts))
	switch {
	case len(parts) == n:
		return exactly(mean)
	case m < 2 || count == 0:
		return Estimate{Value: mean, Low: math.Inf(-1), High: math.Inf(1), Confidence: confidence}
	}
	var squares float64 // of what the counts do not explain
	for _, s := range parts {
		d := s.Sum - mean*float64(s.Count)
		squares += d * d
	}
	perPart := count / m
	return around(mean, math.Sqrt((1-m/float64(n))*squares/(m-1)/m)/perPart, int64(len(parts)-1), confidence)
}

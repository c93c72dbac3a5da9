package rdd

import (
	"context"
	"time"
)

// CountApprox returns the number of records if all partitions are counted within the timeout, and otherwise what those that
// are let expect. It waits no longer: the job is cancelled then, and tasks that run end with it.
//
// Shape: see Estimate. The bounds come from how much the counts of the partitions differ; with fewer than two they are
// what was counted, and +Inf.
// Cost: at most as Count.
// Errors: a negative timeout, and a confidence outside of (0, 1), are a *BuildError with ErrArgument; a failed task is an
// error, not a partial answer.
func CountApprox[T any](ctx context.Context, r *RDD[T], timeout time.Duration, confidence float64) (Estimate, error) {
	counts, parts, err := within(ctx, r.subject(), "countApprox", timeout, confidence, func(t *task, part int) (int64, error) {
		var n int64
		err := r.push(t, part, func(chunk []T) error {
			n += int64(len(chunk))
			return nil
		})
		return n, err
	})
	if err != nil {
		return Estimate{}, err
	}
	var seen int64
	var totals Statistics
	for _, n := range counts {
		seen += n
		totals = totals.with(float64(n))
	}
	if len(counts) == parts {
		return exactly(float64(seen)), nil
	}
	return clusterTotal(totals, parts, confidence).atLeast(float64(seen)), nil
}

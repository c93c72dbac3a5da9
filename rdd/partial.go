package rdd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// An Estimate is a number that was computed from some of the partitions: the best guess, and bounds that hold it with the
// given confidence if those partitions are like the others. Final says that all partitions were there: then Value, Low and
// High are the same and Confidence is 1.
type Estimate struct {
	Value, Low, High float64
	Confidence       float64
	Final            bool
}

// String returns "value in [low, high]", and the confidence, or the value alone if it is final.
func (e Estimate) String() string {
	if e.Final {
		return fmt.Sprint(e.Value)
	}
	return fmt.Sprintf("%.6g in [%.6g, %.6g] with confidence %g", e.Value, e.Low, e.High, e.Confidence)
}

// errTimeUp ends the job of an approximate action.
var errTimeUp = fmt.Errorf("time for an approximate answer is up: %w", context.DeadlineExceeded)

// within runs f over the partitions of r until they are done or the timeout has passed, when it cancels the job. It returns
// the results of those partitions that were done, in partition order, and how many partitions there are.
func within[R any](ctx context.Context, r subject, name string, timeout time.Duration, confidence float64, f func(t *task, part int) (R, error)) (results []R, parts int, err error) {
	if timeout < 0 || !(confidence > 0 && confidence < 1) {
		return nil, 0, &BuildError{Op: name, Site: r.ctx.callSite(),
			Err: fmt.Errorf("%w: timeout %v, confidence %v", ErrArgument, timeout, confidence)}
	}
	parts, err = r.NumPartitions()
	if err != nil {
		return nil, 0, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, timeout, errTimeUp)
	defer cancel()
	var mu sync.Mutex // guards found: a runner may still be in done when it has noticed the end of limited
	found := make([]*R, parts)
	err = runJob(limited, r, name, allParts(parts), f, func(i int, result R) error {
		mu.Lock()
		defer mu.Unlock()
		found[i] = &result
		return nil
	})
	if err != nil && !timeIsUp(ctx, limited, err) {
		return nil, 0, err
	}
	mu.Lock()
	defer mu.Unlock()
	for _, result := range found {
		if result != nil {
			results = append(results, *result)
		}
	}
	return results, parts, nil
}

// timeIsUp reports whether a job ended because of the timeout and for no other reason.
func timeIsUp(ctx, limited context.Context, err error) bool {
	return ctx.Err() == nil && context.Cause(limited) == errTimeUp && errors.Is(err, context.DeadlineExceeded)
}

// clusterTotal estimates the total over all partitions from the totals of some, taking those for a sample of them.
//
// Source: Cochran, "Sampling Techniques", 3rd edition, 1977, chapter on single-stage cluster sampling.
func clusterTotal(totals Statistics, parts int, confidence float64) Estimate {
	m, n := float64(totals.Count), float64(parts)
	value := totals.Mean * n
	if totals.Count < 2 {
		return Estimate{Value: value, Low: math.Inf(-1), High: math.Inf(1), Confidence: confidence}
	}
	return around(value, n*math.Sqrt((1-m/n)*totals.SampleVariance()/m), totals.Count-1, confidence)
}

// exactly is the final estimate.
func exactly(x float64) Estimate {
	return Estimate{Value: x, Low: x, High: x, Confidence: 1, Final: true}
}

// around returns the interval of a standard error with so many degrees of freedom.
func around(value, deviation float64, freedom int64, confidence float64) Estimate {
	half := deviation * studentQuantile(1-confidence, float64(freedom))
	return Estimate{Value: value, Low: value - half, High: value + half, Confidence: confidence}
}

// atLeast raises the lower bound to what was seen already.
func (e Estimate) atLeast(seen float64) Estimate {
	e.Low = max(e.Low, seen)
	return e
}

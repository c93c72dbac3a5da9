package hostile

import (
	"context"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/rdd"
)

// drained ranges over a sequence of a local iterator and returns its error.
func drained[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// awaited is the error of a future.
func awaited[T any](f *rdd.Future[T]) error {
	_, err := f.Wait(context.Background())
	return err
}

// TestActionsInsideATask calls everything that takes a context and runs a job with that of a task (G12): it is refused, and
// touches nothing.
func TestActionsInsideATask(t *testing.T) {
	r := newRig(t, rigOptions{})
	nums := rdd.Parallelize(r.Context, ints(10), 2)
	ps := rdd.Parallelize(r.Context, pairs(10, 2), 2)
	dir := t.TempDir()
	total, err := rdd.NewLongAccumulator(r.Context, "")
	if err != nil {
		t.Fatal(err)
	}
	e := func(_ any, err error) error { return err }
	for name, run := range map[string]func(ctx context.Context) error{
		"collect":           func(ctx context.Context) error { return e(nums.Collect(ctx)) },
		"collectPartitions": func(ctx context.Context) error { return e(nums.CollectPartitions(ctx)) },
		"count":             func(ctx context.Context) error { return e(nums.Count(ctx)) },
		"first":             func(ctx context.Context) error { return e(nums.First(ctx)) },
		"take":              func(ctx context.Context) error { return e(nums.Take(ctx, 3)) },
		"takeSample":        func(ctx context.Context) error { return e(rdd.TakeSample(ctx, nums, false, 3, 1)) },
		"takeOrdered":       func(ctx context.Context) error { return e(rdd.TakeOrdered(ctx, nums, 3)) },
		"isEmpty":           func(ctx context.Context) error { return e(nums.IsEmpty(ctx)) },
		"reduce":            func(ctx context.Context) error { return e(nums.Reduce(ctx, plus)) },
		"fold":              func(ctx context.Context) error { return e(nums.Fold(ctx, 0, plus)) },
		"aggregate":         func(ctx context.Context) error { return e(rdd.Aggregate(ctx, nums, 0, plus, plus)) },
		"treeReduce":        func(ctx context.Context) error { return e(rdd.TreeReduce(ctx, nums, plus, 2)) },
		"treeAggregate":     func(ctx context.Context) error { return e(rdd.TreeAggregate(ctx, nums, 0, plus, plus, 2)) },
		"foreach":           func(ctx context.Context) error { return nums.Foreach(ctx, func(int) {}) },
		"foreachPartition": func(ctx context.Context) error {
			return nums.ForeachPartition(ctx, func(context.Context, int, iter.Seq[int]) error { return nil })
		},
		"runJob": func(ctx context.Context) error {
			return rdd.RunJob(ctx, nums, []int{0}, func(context.Context, int, iter.Seq[int]) (int, error) { return 0, nil }, func(int, int) error { return nil })
		},
		"localIterator":       func(ctx context.Context) error { return drained(nums.ToLocalIterator(ctx)) },
		"localIteratorAhead":  func(ctx context.Context) error { return drained(rdd.ToLocalIteratorAhead(ctx, nums)) },
		"collectAsync":        func(ctx context.Context) error { return awaited(rdd.CollectAsync(ctx, nums)) },
		"countAsync":          func(ctx context.Context) error { return awaited(rdd.CountAsync(ctx, nums)) },
		"takeAsync":           func(ctx context.Context) error { return awaited(rdd.TakeAsync(ctx, nums, 3)) },
		"foreachAsync":        func(ctx context.Context) error { return awaited(rdd.ForeachAsync(ctx, nums, func(int) {})) },
		"countApprox":         func(ctx context.Context) error { return e(rdd.CountApprox(ctx, nums, timeout, 0.9)) },
		"sumApprox":           func(ctx context.Context) error { return e(rdd.SumApprox(ctx, nums, timeout, 0.9)) },
		"meanApprox":          func(ctx context.Context) error { return e(rdd.MeanApprox(ctx, nums, timeout, 0.9)) },
		"countApprox at once": func(ctx context.Context) error { return e(rdd.CountApprox(ctx, nums, 0, 0.9)) },
		"countByValueApprox":  func(ctx context.Context) error { return e(rdd.CountByValueApprox(ctx, nums, timeout, 0.9)) },
		"countApproxDistinct": func(ctx context.Context) error { return e(rdd.CountApproxDistinct(ctx, nums, 0.1)) },
		"histogram":           func(ctx context.Context) error { return e(rdd.Histogram(ctx, nums, []float64{0, 5, 10})) },
		"histogramBuckets":    func(ctx context.Context) error { _, _, err := rdd.HistogramBuckets(ctx, nums, 3); return err },
		"stats":               func(ctx context.Context) error { return e(rdd.Stats(ctx, nums)) },
		"sum":                 func(ctx context.Context) error { return e(rdd.Sum(ctx, nums)) },
		"max":                 func(ctx context.Context) error { return e(rdd.Max(ctx, nums)) },
		"countByKey":          func(ctx context.Context) error { return e(rdd.CountByKey(ctx, ps)) },
		"countByValue":        func(ctx context.Context) error { return e(rdd.CountByValue(ctx, nums)) },
		"collectAsMap":        func(ctx context.Context) error { return e(rdd.CollectAsMap(ctx, ps)) },
		"reduceByKeyLocally":  func(ctx context.Context) error { return e(rdd.ReduceByKeyLocally(ctx, ps, plus)) },
		"lookup":              func(ctx context.Context) error { return e(rdd.Lookup(ctx, ps, 1)) },
		"sortBy":              func(ctx context.Context) error { return e(rdd.SortBy(ctx, nums, func(x int) int { return x })) },
		"sortByKey":           func(ctx context.Context) error { return e(rdd.SortByKey(ctx, ps)) },
		"zipWithIndex":        func(ctx context.Context) error { return e(rdd.ZipWithIndex(ctx, nums)) },
		"mapOutputSizes":      func(ctx context.Context) error { return e(rdd.MapOutputSizes(ctx, rdd.ReduceByKey(ps, plus), 0)) },
		"coalesceShuffled":    func(ctx context.Context) error { return e(rdd.CoalesceShuffled(ctx, rdd.ReduceByKey(ps, plus), 1)) },
		"sampleByKeyExact": func(ctx context.Context) error {
			return e(rdd.SampleByKeyExact(ctx, ps, false, []rdd.Pair[int, float64]{{Key: 0, Value: 1}, {Key: 1, Value: 1}}, 1))
		},
		"saveAsTextFile":   func(ctx context.Context) error { return nums.SaveAsTextFile(ctx, filepath.Join(dir, "text")) },
		"saveAsJSON":       func(ctx context.Context) error { return nums.SaveAsJSON(ctx, filepath.Join(dir, "json")) },
		"saveAsObjectFile": func(ctx context.Context) error { return nums.SaveAsObjectFile(ctx, filepath.Join(dir, "object")) },
		"saveAsCSV": func(ctx context.Context) error {
			return rdd.SaveAsCSV(ctx, rdd.Parallelize(r.Context, [][]string{{"a"}}, 1), filepath.Join(dir, "csv"), rdd.CSVSaveOptions{})
		},
		"overwriteTextFile": func(ctx context.Context) error { return nums.OverwriteTextFile(ctx, filepath.Join(dir, "over")) },
		"saveWith": func(ctx context.Context) error {
			return nums.SaveWith(ctx, rdd.NewFileCommitter(filepath.Join(dir, "with"), ""), func(io.Writer, iter.Seq[int]) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			var nested error
			err := within(t, name, func() error {
				_, err := rdd.MapWith(rdd.Parallelize(r.Context, []int{1}, 1), func(ctx context.Context, _ int) (func(int) int, error) {
					inner, cancel := context.WithCancel(ctx) // the task's, handed on
					defer cancel()
					nested = run(inner)
					return func(x int) int { return x }, nil
				}).Count(t.Context())
				return err
			})
			if err != nil || !errors.Is(nested, rdd.ErrNestedJob) {
				t.Errorf("nested: %v; the job: %v", nested, err)
			}
		})
	}
	if names := entries(t, dir); len(names) > 0 {
		t.Errorf("a refused save has made %v", names)
	}
	var asked error
	if _, err := rdd.MapWith(nums, func(ctx context.Context, _ int) (func(int) int, error) {
		_, asked = total.Value(ctx)
		return func(x int) int { return x }, nil
	}).PrunePartitions(func(p int) bool { return p == 0 }).Count(t.Context()); err != nil || !errors.Is(asked, rdd.ErrInTask) {
		t.Errorf("the total inside a task: %v, %v", asked, err)
	}
}

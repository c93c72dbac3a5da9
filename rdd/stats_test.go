package rdd

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// nearly reports whether two floats are the same up to rounding.
func nearly(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

// TestStats compares with the definitions, over any cut into partitions.
func TestStats(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 0, 50).Draw(rt, "rows")
		c, _ := inlineContext(t, Options{})
		r := Parallelize(c, rows, rapid.IntRange(1, 6).Draw(rt, "parts"))
		got := must(Stats(t.Context(), r))
		n := float64(len(rows))
		var sum, mean, squares float64
		for _, x := range rows {
			sum += x
		}
		if n > 0 {
			mean = sum / n
		}
		for _, x := range rows {
			squares += (x - mean) * (x - mean)
		}
		variance, sample := math.NaN(), math.NaN()
		if n > 0 {
			variance = squares / n
		}
		if n > 1 {
			sample = squares / (n - 1)
		}
		if got.Count != int64(n) || !nearly(got.Mean, mean) || !nearly(got.Sum(), sum) ||
			!nearly(got.Variance(), variance) || !nearly(got.SampleVariance(), sample) ||
			!nearly(got.StdDev(), math.Sqrt(variance)) || !nearly(got.SampleStdDev(), math.Sqrt(sample)) {
			rt.Errorf("statistics %+v of %v", got, rows)
		}
		if !nearly(must(Sum(t.Context(), r)), sum) || !nearly(must(Mean(t.Context(), r)), mean) {
			rt.Errorf("sum or mean of %v", rows)
		}
	})
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, r := range []*RDD[int]{Empty[int](c), Parallelize(c, []int{}, 2)} {
			same(t, "statistics of nothing", must(Stats(t.Context(), r)), Statistics{Min: math.Inf(1), Max: math.Inf(-1)})
			same(t, "mean of nothing", must(Mean(t.Context(), r)), 0)
			same(t, "sum of nothing", must(Sum(t.Context(), r)), 0)
		}
		s := must(Stats(t.Context(), Parallelize(c, []int{3, 1, 2, 2}, 3)))
		if s.Count != 4 || s.Mean != 2 || s.Min != 1 || s.Max != 3 || s.Variance() != 0.5 {
			t.Errorf("statistics %+v", s)
		}
	})
}

func TestHistogram(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		t.Run("C22 the last bucket is closed, others are not counted", func(t *testing.T) {
			for _, want := range []struct {
				rows, edges []float64
				counts      []int64
			}{
				{[]float64{1, 2, 3, 5, 6, nan}, []float64{0, 5, 10}, []int64{3, 2}},
				{[]float64{-0.01, 0, 1, 2, 3, 5, 6, 11, 11.01}, []float64{0, 5, 11}, []int64{4, 3}},
				{[]float64{1, 2, 3}, []float64{7, 8}, []int64{0}},
				{[]float64{1, 5, inf, nan, 0}, []float64{1, 5, nan}, []int64{1, 3}},
			} {
				got := must(Histogram(t.Context(), Parallelize(c, want.rows, 2), want.edges))
				same(t, "counts", got, want.counts)
			}
		})
		t.Run("C22 buckets of equal width", func(t *testing.T) {
			edges, counts, err := HistogramBuckets(t.Context(), Parallelize(c, upTo(4), 2), 2)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "edges", edges, []float64{1, 2.5, 4})
			same(t, "counts", counts, []int64{2, 2})
			edges, counts, err = HistogramBuckets(t.Context(), Parallelize(c, []int{3, 3, 3}, 2), 4)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "edges of equal records", edges, []float64{3, 3})
			same(t, "counts of equal records", counts, []int64{3})
		})
	})
	c, _ := inlineContext(t, Options{})
	r := Parallelize(c, []float64{1, 2}, 2)
	for _, edges := range [][]float64{nil, {1}, {2, 1}, {1, 1}, {1, nan, 2}} {
		_, err := Histogram(t.Context(), r, edges)
		wantErr(t, "edges", err, ErrArgument)
	}
	_, _, err := HistogramBuckets(t.Context(), r, 0)
	wantErr(t, "no buckets", err, ErrArgument)
	_, _, err = HistogramBuckets(t.Context(), Empty[int](c), 2)
	wantErr(t, "nothing", err, ErrEmpty)
	for _, x := range []float64{nan, inf, -inf} {
		_, _, err = HistogramBuckets(t.Context(), Parallelize(c, []float64{1, x}, 2), 2)
		wantErr(t, "no width", err, ErrArgument)
	}
}

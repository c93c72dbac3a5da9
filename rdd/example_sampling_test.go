package rdd_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leat-io/leat/rdd"
)

func ExampleRDD_Sample() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		r := rdd.Range(c, 0, 1000, 1, 4)
		n, err := r.Sample(false, 0.1, 42).Count(ctx)
		fmt.Println(n > 60 && n < 140, err)
		all, err := r.Sample(false, 1, 42).Count(ctx)
		fmt.Println(all, err)
	})
	// Output:
	// true <nil>
	// 1000 <nil>
}

func ExampleRDD_RandomSplit() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		parts := rdd.Range(c, 0, 1000, 1, 4).RandomSplit([]float64{9, 1}, 42)
		train, err := parts[0].Count(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		test, err := parts[1].Count(ctx)
		fmt.Println(train+test, train > 5*test, err)
	})
	// Output: 1000 true <nil>
}

func ExampleTakeSample() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		rows, err := rdd.TakeSample(ctx, dice(c), true, 100, 42)
		fmt.Println(len(rows), err)
	})
	// Output: 100 <nil>
}

func ExampleSampleByKey() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		pairs := rdd.KeyBy(rdd.Range(c, 0, 6, 1, 2), func(x int64) string { return []string{"even", "odd"}[x%2] })
		fractions := []rdd.Pair[string, float64]{{Key: "even", Value: 1}, {Key: "odd", Value: 0}}
		show(rdd.SampleByKey(pairs, false, fractions, 42))
	})
	// Output: [(even,0) (even,2) (even,4)] <nil>
}

func ExampleSampleByKeyExact() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		pairs := rdd.KeyBy(rdd.Range(c, 0, 100, 1, 3), func(x int64) string { return []string{"even", "odd"}[x%2] })
		fractions := []rdd.Pair[string, float64]{{Key: "even", Value: 0.5}, {Key: "odd", Value: 0.11}}
		sample, err := rdd.SampleByKeyExact(ctx, pairs, false, fractions, 42)
		if err != nil {
			fmt.Println(err)
			return
		}
		counts, err := rdd.CountByKey(ctx, sample.Coalesce(1))
		fmt.Println(counts, err)
	})
	// Output: [(even,25) (odd,6)] <nil>
}

func ExampleCountApproxDistinct() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		visits := rdd.Map(rdd.Range(c, 0, 100_000, 1, 4), func(x int64) int64 { return x % 20_000 })
		n, err := rdd.CountApproxDistinct(ctx, visits, 0.01)
		fmt.Println(n > 19_000 && n < 21_000, err)
	})
	// Output: true <nil>
}

func ExampleCountApproxDistinctPrecision() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.CountApproxDistinctPrecision(ctx, dice(c), 12, 25))
	})
	// Output: 4 <nil>
}

func ExampleCountApproxDistinctByKey() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		visits := rdd.Parallelize(c, []pair{{Key: "a", Value: 1}, {Key: "b", Value: 1}, {Key: "a", Value: 2}, {Key: "a", Value: 1}}, 2)
		show(rdd.CountApproxDistinctByKey(visits, 0.05, rdd.NumPartitions(1)))
	})
	// Output: [(a,2) (b,1)] <nil>
}

func ExampleCountApproxDistinctByKeyPrecision() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		visits := rdd.Parallelize(c, []pair{{Key: "a", Value: 1}, {Key: "a", Value: 2}}, 2)
		show(rdd.CountApproxDistinctByKeyPrecision(visits, 8, 20))
	})
	// Output: [(a,2)] <nil>
}

func ExampleCountApprox() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.CountApprox(ctx, dice(c), time.Minute, 0.95))
	})
	// Output: 5 <nil>
}

func ExampleSumApprox() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		sum, err := rdd.SumApprox(ctx, dice(c), time.Minute, 0.95)
		fmt.Println(sum.Value, sum.Final, err)
	})
	// Output: 20 true <nil>
}

func ExampleMeanApprox() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.MeanApprox(ctx, dice(c), time.Minute, 0.95))
	})
	// Output: 4 <nil>
}

func ExampleCountByValueApprox() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.CountByValueApprox(ctx, dice(c), time.Minute, 0.95))
	})
	// Output: [(3,1) (6,2) (1,1) (4,1)] <nil>
}

func ExampleEstimate_String() {
	fmt.Println(rdd.Estimate{Value: 40, Low: 36, High: 44, Confidence: 0.95})
	// Output: 40 in [36, 44] with confidence 0.95
}

func ExampleVariance() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.Variance(ctx, rdd.Parallelize(c, []int{1, 5}, 2)))
	})
	// Output: 4 <nil>
}

func ExampleStdDev() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.StdDev(ctx, rdd.Parallelize(c, []int{1, 3}, 2)))
	})
	// Output: 1 <nil>
}

func ExampleSampleVariance() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.SampleVariance(ctx, rdd.Parallelize(c, []int{1, 5}, 2)))
	})
	// Output: 8 <nil>
}

func ExampleSampleStdDev() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.SampleStdDev(ctx, rdd.Parallelize(c, []int{1, 2, 3}, 2)))
	})
	// Output: 1 <nil>
}

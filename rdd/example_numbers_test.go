package rdd_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/leat-io/leat/rdd"
)

// dice are some throws.
func dice(c *rdd.Context) *rdd.RDD[int] { return rdd.Parallelize(c, []int{3, 6, 1, 4, 6}, 2) }

func add(a, b int) int { return a + b }

func ExampleTakeOrdered() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) { fmt.Println(rdd.TakeOrdered(ctx, dice(c), 2)) })
	// Output: [1 3] <nil>
}

func ExampleTop() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) { fmt.Println(rdd.Top(ctx, dice(c), 3)) })
	// Output: [6 6 4] <nil>
}

func ExampleMax() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.Max(ctx, dice(c)))
		fmt.Println(rdd.Max(ctx, rdd.Empty[int](c)))
	})
	// Output:
	// 6 <nil>
	// 0 rdd: no records
}

func ExampleMin() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) { fmt.Println(rdd.Min(ctx, dice(c))) })
	// Output: 1 <nil>
}

func ExampleTreeReduce() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		many := rdd.Map(rdd.Range(c, 0, 1000, 1, 16), func(x int64) int { return int(x) })
		fmt.Println(rdd.TreeReduce(ctx, many, add, 2))
	})
	// Output: 499500 <nil>
}

func ExampleTreeAggregate() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		count := func(n int, _ int64) int { return n + 1 }
		fmt.Println(rdd.TreeAggregate(ctx, rdd.Range(c, 0, 1000, 1, 16), 0, count, add, 2))
	})
	// Output: 1000 <nil>
}

func ExampleSum() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) { fmt.Println(rdd.Sum(ctx, dice(c))) })
	// Output: 20 <nil>
}

func ExampleMean() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) { fmt.Println(rdd.Mean(ctx, dice(c))) })
	// Output: 4 <nil>
}

func ExampleStats() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		s, err := rdd.Stats(ctx, dice(c))
		fmt.Printf("%d throws from %g to %g, mean %g, deviation %.2f, %v\n", s.Count, s.Min, s.Max, s.Mean, s.StdDev(), err)
	})
	// Output: 5 throws from 1 to 6, mean 4, deviation 1.90, <nil>
}

func ExampleHistogram() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.Histogram(ctx, dice(c), []float64{1, 4, 6}))
	})
	// Output: [2 3] <nil>
}

func ExampleHistogramBuckets() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) { fmt.Println(rdd.HistogramBuckets(ctx, dice(c), 2)) })
	// Output: [1 3.5 6] [2 3] <nil>
}

func ExampleRDD_ToLocalIterator() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		for x, err := range dice(c).ToLocalIterator(ctx) {
			fmt.Println(x, err)
			if x == 6 {
				break
			}
		}
	})
	// Output:
	// 3 <nil>
	// 6 <nil>
}

func ExampleRunJob() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		length := func(_ context.Context, _ int, rows iter.Seq[int]) (int, error) {
			n := 0
			for range rows {
				n++
			}
			return n, nil
		}
		lengths := make([]int, 2)
		err := rdd.RunJob(ctx, dice(c), []int{1, 0}, length, func(i, n int) error {
			lengths[i] = n
			return nil
		})
		fmt.Println(lengths, err)
	})
	// Output: [3 2] <nil>
}

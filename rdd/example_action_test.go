package rdd_test

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/leat-io/leat/rdd"
)

func ExampleRDD_Collect() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	fmt.Println(rdd.Range(c, 0, 4, 1, 2).Collect(context.Background()))
	fmt.Println(rdd.Range(c, 0, 4, 1, 2).CollectPartitions(context.Background()))
	// Output:
	// [0 1 2 3] <nil>
	// [[0 1] [2 3]] <nil>
}

func ExampleRDD_CollectPartitions() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	fmt.Println(rdd.Range(c, 0, 5, 1, 3).CollectPartitions(context.Background()))
	// Output: [[0] [1 2] [3 4]] <nil>
}

func ExampleRDD_Count() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	fmt.Println(rdd.Range(c, 0, 1000, 1, 3).Count(context.Background()))
	// Output: 1000 <nil>
}

func ExampleRDD_Reduce() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	fmt.Println(rdd.Parallelize(c, []int{1, 2, 3}, 2).Reduce(context.Background(), sum))
	fmt.Println(rdd.Empty[int](c).Reduce(context.Background(), sum))
	// Output:
	// 6 <nil>
	// 0 rdd: no records
}

func ExampleRDD_Fold() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	// Two partitions: the zero enters three times.
	fmt.Println(rdd.Parallelize(c, []int{1, 2, 3, 4}, 2).Fold(context.Background(), 10, sum))
	// Output: 40 <nil>
}

func ExampleAggregate() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	words := rdd.Parallelize(c, []string{"to", "be", "or"}, 2)
	fmt.Println(rdd.Aggregate(context.Background(), words, 0, func(n int, w string) int { return n + len(w) }, sum))
	// Output: 6 <nil>
}

func ExampleRDD_Take() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.Range(c, 0, 1_000_000_000, 1, 8)
	fmt.Println(r.Take(context.Background(), 3))
	fmt.Println(r.First(context.Background()))
	// Output:
	// [0 1 2] <nil>
	// 0 <nil>
}

func ExampleRDD_First() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	fmt.Println(rdd.Parallelize(c, []string{"a", "b"}, 2).First(context.Background()))
	// Output: a <nil>
}

func ExampleRDD_IsEmpty() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	fmt.Println(rdd.Parallelize(c, []string{}, 2).IsEmpty(context.Background()))
	// Output: true <nil>
}

func ExampleRDD_Foreach() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	var seen atomic.Int64 // partitions run at the same time
	err := rdd.Range(c, 0, 10, 1, 4).Foreach(context.Background(), func(x int64) { seen.Add(x) })
	fmt.Println(seen.Load(), err)
	// Output: 45 <nil>
}

func ExampleRDD_ForeachPartition() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	err := rdd.Range(c, 0, 4, 1, 1).ForeachPartition(context.Background(), func(_ context.Context, part int, rows iter.Seq[int64]) error {
		for x := range rows {
			fmt.Println(part, x)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 0 0
	// 0 1
	// 0 2
	// 0 3
	// <nil>
}

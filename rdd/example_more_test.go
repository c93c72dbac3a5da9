package rdd_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/leat-io/leat/rdd"
)

// byLength orders words by how long they are.
func byLength(a, b string) int { return len(a) - len(b) }

func ExampleMaxFunc() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		words := rdd.Parallelize(c, []string{"cherry", "fig", "apple"}, 2)
		longest, err := rdd.MaxFunc(ctx, words, byLength)
		fmt.Println(longest, err)
	})
	// Output: cherry <nil>
}

func ExampleMinFunc() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		words := rdd.Parallelize(c, []string{"cherry", "fig", "apple"}, 2)
		shortest, err := rdd.MinFunc(ctx, words, byLength)
		fmt.Println(shortest, err)
	})
	// Output: fig <nil>
}

func ExampleTakeOrderedFunc() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		words := rdd.Parallelize(c, []string{"cherry", "fig", "apple"}, 2)
		first, err := rdd.TakeOrderedFunc(ctx, words, 2, byLength)
		fmt.Println(first, err)
	})
	// Output: [fig apple] <nil>
}

func ExampleTopFunc() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		words := rdd.Parallelize(c, []string{"cherry", "fig", "apple"}, 2)
		last, err := rdd.TopFunc(ctx, words, 2, byLength)
		fmt.Println(last, err)
	})
	// Output: [cherry apple] <nil>
}

func ExampleCountPartitions() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		rows := rdd.Parallelize(c, []int{1, 2, 3, 4, 5}, 2)
		counts, err := rdd.CountPartitions(rows).Collect(ctx)
		fmt.Println(counts, err)
	})
	// Output: [2 3] <nil>
}

func ExampleFromBlocks() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		printParts(ctx, rdd.FromBlocks(c, [][]string{{"a", "b"}, {}, {"c"}}))
	})
	// Output: [[a b] [] [c]]
}

// The running sum of each partition, restarted where the other input says so.
func ExampleZipRows() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		values := rdd.Parallelize(c, []int{1, 2, 3, 4}, 2)
		starts := rdd.Parallelize(c, []int{100, 200}, 2)
		sums := rdd.ZipRows(c, "runningSum", values, starts, nil,
			func(_ int, rows, start rdd.Rows[int], out func([]int) error) error {
				sum := 0
				if err := start.Each(func(chunk []int) error {
					sum = chunk[0]
					return nil
				}); err != nil {
					return err
				}
				return rows.Each(func(chunk []int) error {
					for i, x := range chunk {
						sum += x
						chunk[i] = sum
					}
					return out(chunk)
				})
			})
		printParts(ctx, sums)
	})
	// Output: [[101 103] [203 207]]
}

// What an account holds after the deposits of three days, each an RDD of its own.
func ExampleZipRowsAll() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		before := rdd.Parallelize(c, []int{100, 200}, 2)
		days := []*rdd.RDD[int]{
			rdd.FromBlocks(c, [][]int{{1, 2}, {}}), rdd.FromBlocks(c, [][]int{{}, {30}}), rdd.FromBlocks(c, [][]int{{3}, {40}}),
		}
		after := rdd.ZipRowsAll(c, "deposits", before, days, nil,
			func(_ int, was rdd.Rows[int], days []rdd.Rows[int], out func([]int) error) error {
				sum := 0
				add := func(chunk []int) error {
					for _, x := range chunk {
						sum += x
					}
					return nil
				}
				for _, in := range append([]rdd.Rows[int]{was}, days...) {
					if err := in.Each(add); err != nil {
						return err
					}
				}
				return out([]int{sum})
			})
		printParts(ctx, after)
	})
	// Output: [[106] [270]]
}

func ExampleRDD_Same() {
	onThisMachine(func(_ context.Context, c *rdd.Context) {
		pairs := rdd.KeyBy(rdd.Range(c, 0, 4, 1, 2), func(x int64) int64 { return x })
		byKey := rdd.PartitionBy(pairs, rdd.Hash[int64](2))
		again := rdd.PartitionBy(byKey, rdd.Hash[int64](2))
		fmt.Println(byKey.Same(pairs), again.Same(byKey))
	})
	// Output: false true
}

func ExampleRDD_Unpersist() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		words := rdd.FlatMap(rdd.Parallelize(c, []string{"to be"}, 1), strings.Fields).Cache()
		_, err := words.Count(ctx)
		fmt.Println(words.Level(), err)
		words.Unpersist()
		fmt.Println(words.Level())
	})
	// Output:
	// MEMORY_ONLY <nil>
	// NONE
}

func ExampleMemoryOnly() {
	fmt.Println(rdd.MemoryOnly())
	// Output: MEMORY_ONLY
}

func ExampleMemoryOnlySer() {
	fmt.Println(rdd.MemoryOnlySer())
	// Output: MEMORY_ONLY_SER
}

func ExampleFilterByRangeFunc() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		words := rdd.KeyBy(rdd.Parallelize(c, []string{"cherry", "fig", "apple"}, 1), func(w string) string { return w })
		some := rdd.FilterByRangeFunc(words, "12345", "123456", byLength)
		rows, err := rdd.Keys(some).Collect(ctx)
		fmt.Println(rows, err)
	})
	// Output: [cherry apple] <nil>
}

func ExampleRepartitionAndSortWithinPartitionsFunc() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		words := rdd.KeyBy(rdd.Parallelize(c, []string{"cherry", "fig", "apple"}, 2), func(w string) string { return w })
		one := rdd.PartitionFunc("one", 1, func(string) int { return 0 })
		printParts(ctx, rdd.Keys(rdd.RepartitionAndSortWithinPartitionsFunc(words, one, byLength)))
	})
	// Output: [[fig apple cherry]]
}

package rdd_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// onThisMachine calls f with a context whose jobs run in this process.
func onThisMachine(f func(ctx context.Context, c *rdd.Context)) {
	s := scheduler.New(local.New(local.Options{}), scheduler.Options{})
	defer s.Close()
	c, err := rdd.NewContext(s, rdd.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	f(context.Background(), c)
}

// printParts prints the records of each partition.
func printParts[T any](ctx context.Context, r *rdd.RDD[T]) {
	parts, err := r.CollectPartitions(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(parts)
}

func ExampleRDD_Coalesce() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		printParts(ctx, rdd.Range(c, 1, 11, 1, 10).Coalesce(3))
	})
	// Output: [[1 2 3] [4 5 6] [7 8 9 10]]
}

func ExampleRDD_Repartition() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		parts, err := rdd.Range(c, 0, 1000, 1, 10).Repartition(2).CollectPartitions(ctx)
		fmt.Println(len(parts[0]), len(parts[1]), err)
	})
	// Output: 500 500 <nil>
}

func ExampleRDD_PrunePartitions() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		printParts(ctx, rdd.Range(c, 0, 6, 1, 3).PrunePartitions(func(part int) bool { return part != 1 }))
	})
	// Output: [[0 1] [4 5]]
}

func ExampleCartesian() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		sizes := rdd.Parallelize(c, []string{"S", "L"}, 1)
		colours := rdd.Parallelize(c, []string{"red", "blue"}, 1)
		printParts(ctx, rdd.Cartesian(sizes, colours))
	})
	// Output: [[(S,red) (S,blue) (L,red) (L,blue)]]
}

func ExampleZip() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		names := rdd.Parallelize(c, []string{"a", "b", "c"}, 2)
		printParts(ctx, rdd.Zip(names, rdd.Range(c, 7, 10, 1, 2)))
	})
	// Output: [[(a,7)] [(b,8) (c,9)]]
}

func ExampleZipPartitions() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		a, b := rdd.Range(c, 0, 4, 1, 2), rdd.Range(c, 10, 15, 1, 2)
		both := rdd.ZipPartitions(a, b, func(x, y iter.Seq[int64]) iter.Seq[int64] {
			return func(yield func(int64) bool) {
				for v := range x {
					if !yield(v) {
						return
					}
				}
				for v := range y {
					if !yield(v) {
						return
					}
				}
			}
		})
		printParts(ctx, both)
	})
	// Output: [[0 1 10 11] [2 3 12 13 14]]
}

func ExampleZipWithIndex() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		numbered, err := rdd.ZipWithIndex(ctx, rdd.Parallelize(c, []string{"a", "b", "c"}, 2))
		if err != nil {
			fmt.Println(err)
			return
		}
		printParts(ctx, numbered)
	})
	// Output: [[(a,0)] [(b,1) (c,2)]]
}

func ExampleZipWithUniqueID() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		printParts(ctx, rdd.ZipWithUniqueID(rdd.Parallelize(c, []string{"a", "b", "c"}, 2)))
	})
	// Output: [[(a,0)] [(b,1) (c,3)]]
}

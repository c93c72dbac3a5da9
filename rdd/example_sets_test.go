package rdd_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd"
)

func ExampleIntersection() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		a, b := rdd.Parallelize(c, []int{1, 2, 3, 3}, 2), rdd.Parallelize(c, []int{1, 1, 3}, 3)
		printParts(ctx, rdd.Intersection(a, b))
	})
	// Output: [[3] [1] []]
}

func ExampleSubtract() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		a, b := rdd.Parallelize(c, []int{1, 1, 2, 3}, 2), rdd.Parallelize(c, []int{3}, 1)
		printParts(ctx, rdd.Subtract(a, b))
	})
	// Output: [[2] [1 1]]
}

// fruit is what some boxes hold.
func fruit(c *rdd.Context) *rdd.RDD[rdd.Pair[int, string]] {
	return rdd.Parallelize(c, []rdd.Pair[int, string]{{Key: 3, Value: "fig"}, {Key: 1, Value: "kiwi"}, {Key: 3, Value: "plum"}}, 2)
}

func ExampleSubtractByKey() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		sold := rdd.Parallelize(c, []rdd.Pair[int, bool]{{Key: 1, Value: true}}, 1)
		printParts(ctx, rdd.SubtractByKey(fruit(c), sold))
	})
	// Output: [[] [(3,fig) (3,plum)]]
}

func ExampleCoGroup3() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		weights := rdd.Parallelize(c, []rdd.Pair[int, float64]{{Key: 3, Value: 0.5}}, 1)
		sold := rdd.Parallelize(c, []rdd.Pair[int, bool]{{Key: 1, Value: true}}, 1)
		groups, err := rdd.CoGroup3(fruit(c), weights, sold).Collect(ctx)
		for _, g := range groups {
			fmt.Println(g.Key, g.Value.First, g.Value.Second, g.Value.Third)
		}
		fmt.Println(err)
	})
	// Output:
	// 3 [fig plum] [0.5] []
	// 1 [kiwi] [] [true]
	// <nil>
}

func ExampleCoGroup4() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		groups, err := rdd.CoGroup4(fruit(c), fruit(c), fruit(c), fruit(c)).Collect(ctx)
		for _, g := range groups {
			fmt.Println(g.Key, g.Value.First, g.Value.Fourth)
		}
		fmt.Println(err)
	})
	// Output:
	// 3 [fig plum] [fig plum]
	// 1 [kiwi] [kiwi]
	// <nil>
}

func ExampleRepartitionAndSortWithinPartitions() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		printParts(ctx, rdd.RepartitionAndSortWithinPartitions(fruit(c), rdd.Hash[int](1)))
	})
	// Output: [[(1,kiwi) (3,fig) (3,plum)]]
}

func ExampleFilterByRange() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		printParts(ctx, rdd.FilterByRange(fruit(c), 2, 3))
	})
	// Output: [[(3,fig)] [(3,plum)]]
}

func ExampleLookup() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.Lookup(ctx, fruit(c), 3))
		fmt.Println(rdd.Lookup(ctx, fruit(c), 9))
	})
	// Output:
	// [fig plum] <nil>
	// [] <nil>
}

func ExampleCollectAsMap() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.CollectAsMap(ctx, fruit(c)))
	})
	// Output: [(3,plum) (1,kiwi)] <nil>
}

func ExampleReduceByKeyLocally() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		fmt.Println(rdd.ReduceByKeyLocally(ctx, fruit(c), func(a, b string) string { return a + "+" + b }))
	})
	// Output: [(3,fig+plum) (1,kiwi)] <nil>
}

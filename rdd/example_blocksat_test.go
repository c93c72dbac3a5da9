package rdd_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd"
)

func ExampleFromBlocksAt() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		hosts := [][]string{{"left"}, {"right", "left"}, nil}
		blocks := rdd.FromBlocksAt(c, [][]int{{1, 2}, {3}, {4}}, func(part int) []string { return hosts[part] })
		parts, err := rdd.Map(blocks, func(x int) int { return x * x }).Partitions()
		for _, p := range parts {
			fmt.Println(p.Index, p.Hosts)
		}
		rows, _ := blocks.Collect(ctx)
		fmt.Println(rows, err)
	})
	// Output:
	// 0 [left]
	// 1 [right left]
	// 2 []
	// [1 2 3 4] <nil>
}

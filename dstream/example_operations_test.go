package dstream_test

import (
	"fmt"

	"github.com/leat-io/leat/dstream"
)

func ExampleGraph_Operations() {
	play(0, func(g *dstream.Graph) {
		line(dstream.Count(dstream.Map(numbers(g), func(n int) int { return n + 1 })))
		for _, op := range g.Operations() {
			fmt.Printf("%d %s %q of %v, output %t\n", op.ID, op.Op, op.Name, op.Parents, op.Output)
		}
	})
	// Output:
	// 1 slices "Slice stream [0]" of [], output false
	// 2 map "" of [1], output false
	// 3 count "" of [2], output false
	// 4 foreachRDD "" of [3], output true
}

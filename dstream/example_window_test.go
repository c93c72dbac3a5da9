package dstream_test

import (
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

func ExampleWindow() {
	play(4, func(g *dstream.Graph) {
		line(dstream.Window(numbers(g), 2*time.Second, 0))
	})
	// Output:
	// 1 [1]
	// 2 [1 2 3]
	// 3 [2 3]
	// 4 [4]
}

func ExampleReduceByKeyAndWindow() {
	play(4, func(g *dstream.Graph) {
		line(dstream.ReduceByKeyAndWindow(visits(g), func(a, b int) int { return max(a, b) }, nil, 2*time.Second, 0))
	})
	// Output:
	// 1 [(ada,1) (bo,1)]
	// 2 [(ada,1) (bo,1)]
	// 3 [(ada,1)]
	// 4 [(cy,1)]
}

func ExampleReduceByKeyAndWindow_inverse() {
	play(4, func(g *dstream.Graph) {
		plus := func(a, b int) int { return a + b }
		minus := func(a, b int) int { return a - b }
		notZero := dstream.KeepWindowed(func(p rdd.Pair[string, int]) bool { return p.Value != 0 })
		line(dstream.ReduceByKeyAndWindow(visits(g), plus, minus, 2*time.Second, 0, notZero))
	})
	// Output:
	// 1 [(ada,2) (bo,1)]
	// 2 [(ada,3) (bo,1)]
	// 3 [(ada,1)]
	// 4 [(cy,1)]
}

func ExampleReduceByWindow() {
	play(4, func(g *dstream.Graph) {
		line(dstream.ReduceByWindow(numbers(g), func(a, b int) int { return max(a, b) }, nil, 2*time.Second, 2*time.Second))
	})
	// Output:
	// 2 [3]
	// 4 [4]
}

func ExampleCountByWindow() {
	play(4, func(g *dstream.Graph) {
		line(dstream.CountByWindow(numbers(g), 2*time.Second, 0))
	})
	// Output:
	// 1 [1]
	// 2 [3]
	// 3 [2]
	// 4 [1]
}

func ExampleCountByValueAndWindow() {
	play(3, func(g *dstream.Graph) {
		names := dstream.Map(visits(g), func(p rdd.Pair[string, int]) string { return p.Key })
		line(dstream.CountByValueAndWindow(names, 2*time.Second, 0))
	})
	// Output:
	// 1 [(ada,2) (bo,1)]
	// 2 [(ada,3) (bo,1)]
	// 3 [(ada,1)]
}

func ExampleGroupByKeyAndWindow() {
	play(3, func(g *dstream.Graph) {
		line(dstream.GroupByKeyAndWindow(visits(g), 2*time.Second, 0))
	})
	// Output:
	// 1 [(ada,[1 1]) (bo,[1])]
	// 2 [(ada,[1 1 1]) (bo,[1])]
	// 3 [(ada,[1])]
}

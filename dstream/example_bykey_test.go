package dstream_test

import (
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

func ExampleGroupByKey() {
	play(2, func(g *dstream.Graph) {
		line(dstream.GroupByKey(visits(g)))
	})
	// Output:
	// 1 [(ada,[1 1]) (bo,[1])]
	// 2 [(ada,[1])]
}

func ExampleReduceByKey() {
	play(3, func(g *dstream.Graph) {
		line(dstream.ReduceByKey(visits(g), func(a, b int) int { return a + b }))
	})
	// Output:
	// 1 [(ada,2) (bo,1)]
	// 2 [(ada,1)]
	// 3 []
}

func ExampleCombineByKey() {
	play(1, func(g *dstream.Graph) {
		line(dstream.CombineByKey(visits(g),
			func(v int) []int { return []int{v} },
			func(c []int, v int) []int { return append(c, v) },
			func(a, b []int) []int { return append(a, b...) }))
	})
	// Output: 1 [(ada,[1 1]) (bo,[1])]
}

func ExampleCountByValue() {
	play(2, func(g *dstream.Graph) {
		line(dstream.CountByValue(dstream.Map(visits(g), func(p rdd.Pair[string, int]) string { return p.Key })))
	})
	// Output:
	// 1 [(ada,2) (bo,1)]
	// 2 [(ada,1)]
}

func ExampleCoGroup() {
	play(2, func(g *dstream.Graph) {
		line(dstream.CoGroup(visits(g), homes(g)))
	})
	// Output:
	// 1 [(ada,([1 1],[Rome])) (bo,([1],[])) (cy,([],[Oslo]))]
	// 2 [(ada,([1],[Rome])) (cy,([],[Oslo]))]
}

func ExampleJoin() {
	play(2, func(g *dstream.Graph) {
		line(dstream.Join(visits(g), homes(g)))
	})
	// Output:
	// 1 [(ada,(1,Rome)) (ada,(1,Rome))]
	// 2 [(ada,(1,Rome))]
}

func ExampleLeftOuterJoin() {
	play(1, func(g *dstream.Graph) {
		line(dstream.LeftOuterJoin(visits(g), homes(g)))
	})
	// Output: 1 [(ada,(1,Some(Rome))) (ada,(1,Some(Rome))) (bo,(1,None))]
}

func ExampleRightOuterJoin() {
	play(2, func(g *dstream.Graph) {
		line(dstream.RightOuterJoin(visits(g), homes(g)))
	})
	// Output:
	// 1 [(ada,(Some(1),Rome)) (ada,(Some(1),Rome)) (cy,(None,Oslo))]
	// 2 [(ada,(Some(1),Rome)) (cy,(None,Oslo))]
}

func ExampleFullOuterJoin() {
	play(2, func(g *dstream.Graph) {
		line(dstream.FullOuterJoin(visits(g), homes(g)))
	})
	// Output:
	// 1 [(ada,(Some(1),Some(Rome))) (ada,(Some(1),Some(Rome))) (bo,(Some(1),None)) (cy,(None,Some(Oslo)))]
	// 2 [(ada,(Some(1),Some(Rome))) (cy,(None,Some(Oslo)))]
}

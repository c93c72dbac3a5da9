package dstream_test

import (
	"fmt"
	"iter"
	"strings"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

func ExampleMap() {
	play(2, func(g *dstream.Graph) {
		line(dstream.Map(numbers(g), func(x int) string { return strings.Repeat("*", x) }))
	})
	// Output:
	// 1 [*]
	// 2 [** ***]
}

func ExampleFlatMap() {
	play(1, func(g *dstream.Graph) {
		lines := dstream.SliceStream(g, [][]string{{"to be", "or not"}}, 1)
		line(dstream.FlatMap(lines, strings.Fields))
	})
	// Output:
	// 1 [to be or not]
}

func ExampleFlatMapAppend() {
	play(2, func(g *dstream.Graph) {
		line(dstream.FlatMapAppend(numbers(g), func(x int, out []int) []int { return append(out, x, -x) }))
	})
	// Output:
	// 1 [1 -1]
	// 2 [2 -2 3 -3]
}

func ExampleDStream_Filter() {
	play(2, func(g *dstream.Graph) {
		line(numbers(g).Filter(func(x int) bool { return x > 2 }))
	})
	// Output:
	// 1 []
	// 2 [3]
}

func ExampleMapChunks() {
	play(2, func(g *dstream.Graph) {
		line(dstream.MapChunks(numbers(g), func(in, out []int) ([]int, error) { return append(out, in[0]), nil }))
	})
	// Output:
	// 1 [1]
	// 2 [2]
}

func ExampleMapPartitions() {
	play(2, func(g *dstream.Graph) {
		line(dstream.MapPartitions(numbers(g), func(rows iter.Seq[int]) iter.Seq[int] {
			return func(yield func(int) bool) {
				total := 0
				for x := range rows {
					total += x
				}
				yield(total)
			}
		}))
	})
	// Output:
	// 1 [1]
	// 2 [5]
}

func ExampleGlom() {
	play(2, func(g *dstream.Graph) {
		line(dstream.Glom(numbers(g)))
	})
	// Output:
	// 1 [[1]]
	// 2 [[2 3]]
}

func ExampleDStream_Repartition() {
	play(2, func(g *dstream.Graph) {
		line(dstream.Glom(numbers(g).Repartition(2)))
	})
	// Output:
	// 1 [[1] []]
	// 2 [[2] [3]]
}

func ExampleMapToPair() {
	play(2, func(g *dstream.Graph) {
		line(dstream.MapToPair(numbers(g), func(x int) (bool, int) { return x%2 == 1, x }))
	})
	// Output:
	// 1 [(true,1)]
	// 2 [(false,2) (true,3)]
}

func ExampleMapValues() {
	play(2, func(g *dstream.Graph) {
		line(dstream.MapValues(visits(g), func(n int) int { return 10 * n }))
	})
	// Output:
	// 1 [(ada,10) (bo,10) (ada,10)]
	// 2 [(ada,10)]
}

func ExampleFlatMapValues() {
	play(2, func(g *dstream.Graph) {
		line(dstream.FlatMapValues(visits(g), func(n int) []int { return []int{n, n + 1} }))
	})
	// Output:
	// 1 [(ada,1) (ada,2) (bo,1) (bo,2) (ada,1) (ada,2)]
	// 2 [(ada,1) (ada,2)]
}

func ExampleReduce() {
	play(3, func(g *dstream.Graph) {
		line(dstream.Reduce(numbers(g), func(a, b int) int { return a + b }))
	})
	// Output:
	// 1 [1]
	// 2 [5]
	// 3 []
}

func ExampleCount() {
	play(3, func(g *dstream.Graph) {
		line(dstream.Count(numbers(g)))
	})
	// Output:
	// 1 [1]
	// 2 [2]
	// 3 [0]
}

func ExampleUnion() {
	play(2, func(g *dstream.Graph) {
		s := numbers(g)
		line(dstream.Union(s, dstream.Map(s, func(x int) int { return 100 * x })))
	})
	// Output:
	// 1 [1 100]
	// 2 [2 3 200 300]
}

func ExampleTransform() {
	play(2, func(g *dstream.Graph) {
		line(dstream.Transform(numbers(g), func(r *rdd.RDD[int], t dstream.Time) (*rdd.RDD[string], error) {
			return rdd.Map(r, func(x int) string { return fmt.Sprintf("%d in %s", x, t) }), nil
		}))
	})
	// Output:
	// 1 [1 in 1000 ms]
	// 2 [2 in 2000 ms 3 in 2000 ms]
}

func ExampleTransformWith() {
	play(1, func(g *dstream.Graph) {
		line(dstream.TransformWith(visits(g), homes(g), func(v *rdd.RDD[rdd.Pair[string, int]], h *rdd.RDD[rdd.Pair[string, string]], _ dstream.Time) (*rdd.RDD[rdd.Pair[string, int]], error) {
			return rdd.SubtractByKey(v, h), nil
		}))
	})
	// Output: 1 [(bo,1)]
}

func ExampleTransformAll() {
	play(2, func(g *dstream.Graph) {
		s := numbers(g)
		line(dstream.TransformAll([]*dstream.DStream[int]{s, s}, func(rdds []*rdd.RDD[int], _ dstream.Time) (*rdd.RDD[int], error) {
			return rdds[0].Union(rdds[1:]...), nil
		}))
	})
	// Output:
	// 1 [1 1]
	// 2 [2 3 2 3]
}

package dstream_test

import (
	"iter"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

func ExampleUpdateStateByKey() {
	play(4, func(g *dstream.Graph) {
		line(dstream.UpdateStateByKey(visits(g), func(visits []int, old rdd.Option[int]) rdd.Option[int] {
			return rdd.Option[int]{Value: old.Value + len(visits), OK: true}
		}, dstream.TouchedOnly()))
	})
	// Output:
	// 1 [(ada,2) (bo,1)]
	// 2 [(ada,3) (bo,1)]
	// 3 [(ada,3) (bo,1)]
	// 4 [(ada,3) (bo,1) (cy,1)]
}

func ExampleUpdateStateByKeyTimed() {
	play(3, func(g *dstream.Graph) {
		line(dstream.UpdateStateByKeyTimed(visits(g), func(t dstream.Time, _ string, visits []int, last rdd.Option[dstream.Time]) rdd.Option[dstream.Time] {
			if len(visits) > 0 {
				return rdd.Option[dstream.Time]{Value: t, OK: true}
			}
			return last
		}))
	})
	// Output:
	// 1 [(ada,1000 ms) (bo,1000 ms)]
	// 2 [(ada,2000 ms) (bo,1000 ms)]
	// 3 [(ada,2000 ms) (bo,1000 ms)]
}

func ExampleUpdateStateByKeyIter() {
	play(2, func(g *dstream.Graph) {
		type seen = dstream.StateInput[string, int, int]
		line(dstream.UpdateStateByKeyIter(visits(g), func(_ dstream.Time, rows iter.Seq[seen]) iter.Seq[rdd.Pair[string, int]] {
			return func(yield func(rdd.Pair[string, int]) bool) {
				for row := range rows {
					if !yield(rdd.Pair[string, int]{Key: row.Key, Value: row.Old.Value + len(row.Values)}) {
						return
					}
				}
			}
		}))
	})
	// Output:
	// 1 [(ada,2) (bo,1)]
	// 2 [(ada,3) (bo,1)]
}

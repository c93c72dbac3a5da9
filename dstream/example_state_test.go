package dstream_test

import (
	"fmt"
	"iter"
	"time"

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

func ExampleMapWithState() {
	play(4, func(g *dstream.Graph) {
		// The number of each visit of a visitor.
		line(dstream.MapWithState(visits(g), dstream.NewStateSpec(
			func(who string, _ rdd.Option[int], seen *dstream.State[int]) string {
				n := seen.Option().Value + 1
				if err := seen.Update(n); err != nil {
					return who + ": " + err.Error()
				}
				return fmt.Sprintf("%s:%d", who, n)
			})).DStream)
	})
	// Output:
	// 1 [ada:1 bo:1 ada:2]
	// 2 [ada:3]
	// 3 []
	// 4 [cy:1]
}

func ExampleStatefulDStream_StateSnapshots() {
	play(4, func(g *dstream.Graph) {
		// The batch of the last visit, until a visitor has not come for two seconds.
		spec := dstream.NewTimedStateSpec(func(t dstream.Time, who string, _ rdd.Option[int], last *dstream.State[dstream.Time]) rdd.Option[string] {
			if last.IsTimingOut() {
				return rdd.Option[string]{Value: who, OK: true}
			}
			_ = last.Update(t) // refused in a call for a time-out only
			return rdd.Option[string]{}
		}).Timeout(2 * time.Second)
		last := dstream.MapWithState(visits(g), spec)
		last.Checkpoint(time.Second) // so that time-outs are looked for in every batch
		line(last.StateSnapshots())
	})
	// Output:
	// 1 [(ada,1000 ms) (bo,1000 ms)]
	// 2 [(ada,2000 ms) (bo,1000 ms)]
	// 3 [(ada,2000 ms) (bo,1000 ms)]
	// 4 [(ada,2000 ms) (cy,4000 ms)]
}

func ExampleNewTryStateSpec() {
	spec := dstream.NewTryStateSpec(func(_ dstream.Time, account string, amount rdd.Option[int], balance *dstream.State[int]) (rdd.Option[int], error) {
		left := balance.Option().Value + amount.Value
		if left < 0 {
			return rdd.Option[int]{}, fmt.Errorf("account %s is overdrawn", account)
		}
		return rdd.Option[int]{Value: left, OK: true}, balance.Update(left)
	})
	fmt.Println(spec.NumPartitions(4).Timeout(time.Hour))
	// Output: mapWithState: 4 partitions, initial state false, time-out 1h0m0s
}

func ExampleDStream_Parents() {
	play(1, func(g *dstream.Graph) {
		m := dstream.MapWithState(visits(g), dstream.NewStateSpec(func(who string, _ rdd.Option[int], _ *dstream.State[int]) string { return who }))
		line(m.DStream)
		for at := m.Parents(); len(at) > 0; at = at[0].Parents() {
			fmt.Println(at[0].Op())
		}
	})
	// Output:
	// mapWithState states
	// slices
	// 1 [ada bo ada]
}

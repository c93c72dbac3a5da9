package dstream_test

import (
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// told plays four batches of visits with a function of states and prints what it emits.
func told(f func(t dstream.Time, who string, visit rdd.Option[int], s *dstream.State[int]) rdd.Option[string], set ...func(stateSpec) stateSpec) {
	play(4, func(g *dstream.Graph) {
		spec := dstream.NewTimedStateSpec(f)
		for _, s := range set {
			spec = s(spec)
		}
		m := dstream.MapWithState(visits(g), spec)
		m.Checkpoint(time.Second) // so that time-outs are looked for in every batch
		line(m.DStream)
	})
}

type stateSpec = dstream.StateSpec[string, int, int, string]

func some(format string, args ...any) rdd.Option[string] {
	return rdd.Option[string]{Value: fmt.Sprintf(format, args...), OK: true}
}

func ExampleNewStateSpec() {
	play(2, func(g *dstream.Graph) {
		spec := dstream.NewStateSpec(func(who string, visit rdd.Option[int], visits *dstream.State[int]) int {
			n := visits.Option().Value + visit.Value
			_ = visits.Update(n) // refused in a call for a time-out only
			return n
		})
		line(dstream.MapWithState(visits(g), spec).DStream)
	})
	// Output:
	// 1 [1 1 2]
	// 2 [3]
}

func ExampleNewTimedStateSpec() {
	// Who comes for the first time, and when.
	told(func(t dstream.Time, who string, _ rdd.Option[int], s *dstream.State[int]) rdd.Option[string] {
		if s.Exists() || s.Update(1) != nil {
			return rdd.Option[string]{}
		}
		return some("%s at %s", who, t)
	})
	// Output:
	// 1 [ada at 1000 ms bo at 1000 ms]
	// 2 []
	// 3 []
	// 4 [cy at 4000 ms]
}

func ExampleState_Exists() {
	told(func(_ dstream.Time, who string, _ rdd.Option[int], s *dstream.State[int]) rdd.Option[string] {
		before := s.Exists()
		return some("%s %t %t", who, before, s.Update(1) == nil && s.Exists())
	})
	// Output:
	// 1 [ada false true bo false true ada true true]
	// 2 [ada true true]
	// 3 []
	// 4 [cy false true]
}

func ExampleState_Get() {
	told(func(_ dstream.Time, who string, _ rdd.Option[int], s *dstream.State[int]) rdd.Option[string] {
		n, err := s.Get()
		if err != nil {
			return some("%s: %v, %v", who, err, s.Update(1))
		}
		return some("%s: %d", who, n)
	})
	// Output:
	// 1 [ada: state is not set, <nil> bo: state is not set, <nil> ada: 1]
	// 2 [ada: 1]
	// 3 []
	// 4 [cy: state is not set, <nil>]
}

func ExampleState_Option() {
	told(func(_ dstream.Time, who string, visit rdd.Option[int], s *dstream.State[int]) rdd.Option[string] {
		n := s.Option().Value + visit.Value // the zero value for a key without state
		return some("%s %d %t", who, n, s.Update(n) == nil)
	})
	// Output:
	// 1 [ada 1 true bo 1 true ada 2 true]
	// 2 [ada 3 true]
	// 3 []
	// 4 [cy 1 true]
}

func ExampleState_Update() {
	told(func(_ dstream.Time, who string, visit rdd.Option[int], s *dstream.State[int]) rdd.Option[string] {
		if err := s.Update(s.Option().Value + visit.Value); err != nil {
			return some("%s: %v", who, err)
		}
		return rdd.Option[string]{}
	}, func(s stateSpec) stateSpec { return s.Timeout(time.Second) })
	// Output:
	// 1 []
	// 2 []
	// 3 [bo: state is timing out]
	// 4 [ada: state is timing out]
}

func ExampleState_Remove() {
	// Every second visit of somebody ends a pair.
	told(func(_ dstream.Time, who string, _ rdd.Option[int], s *dstream.State[int]) rdd.Option[string] {
		if !s.Exists() {
			return some("%s begins %t", who, s.Update(1) == nil)
		}
		return some("%s ends %t", who, s.Remove() == nil)
	})
	// Output:
	// 1 [ada begins true bo begins true ada ends true]
	// 2 [ada begins true]
	// 3 []
	// 4 [cy begins true]
}

func ExampleState_IsTimingOut() {
	told(func(_ dstream.Time, who string, visit rdd.Option[int], s *dstream.State[int]) rdd.Option[string] {
		if s.IsTimingOut() {
			return some("%s has gone after %d", who, s.Option().Value)
		}
		_ = s.Update(s.Option().Value + visit.Value) // not refused here
		return rdd.Option[string]{}
	}, func(s stateSpec) stateSpec { return s.Timeout(time.Second) })
	// Output:
	// 1 []
	// 2 []
	// 3 [bo has gone after 1]
	// 4 [ada has gone after 3]
}

func ExampleStateSpec_Initial() {
	play(2, func(g *dstream.Graph) {
		known := rdd.Parallelize(g.RDDs(), []rdd.Pair[string, int]{{Key: "ada", Value: 10}, {Key: "cy", Value: 5}}, 1)
		spec := dstream.NewStateSpec(func(who string, visit rdd.Option[int], s *dstream.State[int]) bool {
			return s.Update(s.Option().Value+visit.Value) == nil
		}).Initial(known)
		line(dstream.MapWithState(visits(g), spec).StateSnapshots())
	})
	// Output:
	// 1 [(ada,12) (cy,5) (bo,1)]
	// 2 [(ada,13) (cy,5) (bo,1)]
}

func ExampleStateSpec_NumPartitions() {
	var spec stateSpec
	fmt.Println(spec.NumPartitions(8))
	// Output: mapWithState: 8 partitions, initial state false, time-out 0s
}

func ExampleStateSpec_Partitioner() {
	var spec stateSpec
	fmt.Println(spec.Partitioner(rdd.Hash[string](3)).NumPartitions(8)) // the last one counts
	// Output: mapWithState: 8 partitions, initial state false, time-out 0s
}

func ExampleStateSpec_Timeout() {
	var spec stateSpec
	fmt.Println(spec.Timeout(30 * time.Minute))
	// Output: mapWithState: default partitions, initial state false, time-out 30m0s
}

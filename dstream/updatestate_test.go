package dstream_test

import (
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// runningSum is the state that most cases use: the sum of all values so far.
func runningSum(s *counts, opts ...dstream.StateOption) *counts {
	return dstream.UpdateStateByKey(s, sumState, opts...)
}

func sumState(values []int, old rdd.Option[int]) rdd.Option[int] {
	total := old.Value
	for _, v := range values {
		total += v
	}
	return rdd.Option[int]{Value: total, OK: true}
}

type stateIn = dstream.StateInput[string, int, int]

// sumIter is sumState for the iterator form.
func sumIter(_ dstream.Time, rows iter.Seq[stateIn]) iter.Seq[rdd.Pair[string, int]] {
	return func(yield func(rdd.Pair[string, int]) bool) {
		for in := range rows {
			if !yield(rdd.Pair[string, int]{Key: in.Key, Value: sumState(in.Values, in.Old).Value}) {
				return
			}
		}
	}
}

func TestUpdateStateByKey(t *testing.T) {
	initial := func(d *driver) dstream.StateOption {
		return dstream.InitialState(rdd.Parallelize(d.rdds, pairs("z:1 p:10 z:7"), 2))
	}
	drop := func(values []int, old rdd.Option[int]) rdd.Option[int] {
		if len(values) == 0 {
			return rdd.Option[int]{}
		}
		return sumState(values, old)
	}
	timed := func(t dstream.Time, _ string, values []int, old rdd.Option[int]) rdd.Option[int] {
		if len(values) > 0 {
			old.Value += int(t)
		}
		old.OK = true
		return old
	}
	s1 := []string{"p", "pqq", "-", "r"}
	s1want := "p:1; p:2 q:2; p:2 q:2; p:2 q:2 r:1; p:2 q:2 r:1"
	for _, c := range []struct {
		name  string
		in    []string
		build func(d *driver, s *counts) *counts
		want  string
	}{
		{"S1_sum", s1, func(_ *driver, s *counts) *counts { return runningSum(s) }, s1want},
		{"S1_touched_only", s1, func(_ *driver, s *counts) *counts { return runningSum(s, dstream.TouchedOnly()) }, s1want},
		{"S1_own_partitions", s1, func(_ *driver, s *counts) *counts {
			return runningSum(s, dstream.StatePartitioned(rdd.NumPartitions(3)))
		}, s1want},
		{"S2_initial", []string{"p", "pq", "-"}, func(d *driver, s *counts) *counts { return runningSum(s, initial(d)) },
			"p:11 z:7; p:12 q:1 z:7; p:12 q:1 z:7"},
		{"S2_initial_touched_only", []string{"p", "pq", "-"}, func(d *driver, s *counts) *counts {
			return runningSum(s, initial(d), dstream.TouchedOnly())
		}, "p:11 z:7; p:12 q:1 z:7; p:12 q:1 z:7"},
		{"S2_initial_waits_for_data", []string{"none", "p"}, func(d *driver, s *counts) *counts { return runningSum(s, initial(d)) },
			"none; p:11 z:7"},
		{"S3_drop_without_values", []string{"pq", "p", "q", "-"}, func(_ *driver, s *counts) *counts {
			return dstream.UpdateStateByKey(s, drop)
		}, "p:1 q:1; p:2; q:1; -"},
		{"S4_timed", []string{"p", "pq", "q", "-"}, func(_ *driver, s *counts) *counts {
			return dstream.UpdateStateByKeyTimed(s, timed)
		}, "p:1000; p:3000 q:2000; p:3000 q:5000; p:3000 q:5000"},
		{"S6_absent_batches", []string{"none", "p", "none", "pp"}, func(_ *driver, s *counts) *counts { return runningSum(s) },
			"none; p:1; p:1; p:3"},
		{"S6_iterator", []string{"none", "p", "none", "pp"}, func(_ *driver, s *counts) *counts {
			return dstream.UpdateStateByKeyIter(s, sumIter)
		}, "none; p:1; p:1; p:3"},
		{"S7_iterator", s1, func(_ *driver, s *counts) *counts { return dstream.UpdateStateByKeyIter(s, sumIter) }, s1want},
		{"S7_iterator_forgets_partitioner", s1, func(_ *driver, s *counts) *counts {
			return dstream.UpdateStateByKeyIter(s, sumIter, dstream.ForgetPartitioner())
		}, s1want},
		{"S7_iterator_initial", []string{"p", "pq"}, func(d *driver, s *counts) *counts {
			return dstream.UpdateStateByKeyIter(s, sumIter, dstream.InitialState(rdd.Parallelize(d.rdds, pairs("p:10 z:7"), 2)))
		}, "p:11 z:7; p:12 q:1 z:7"},
		{"forgotten_partitioner", s1, func(_ *driver, s *counts) *counts {
			return runningSum(s, dstream.ForgetPartitioner())
		}, s1want},
		{"removed_by_touched_only", []string{"pq", "p", "p"}, func(_ *driver, s *counts) *counts {
			return dstream.UpdateStateByKey(s, func(values []int, old rdd.Option[int]) rdd.Option[int] {
				return rdd.Option[int]{Value: 1, OK: !old.OK}
			}, dstream.TouchedOnly())
		}, "p:1 q:1; q:1; p:1 q:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSetup(t, func(t *testing.T, d *driver) {
				out := collect(c.build(d, input(d, words(c.in...)...)))
				n := batchesIn(c.want)
				d.run(n)
				equal(t, out.text(n), c.want)
			})
		})
	}
}

// idle is the state of S5.
type idle struct{ N, Idle int }

// idleInPlace changes the state it is given.
func idleInPlace(values []int, old rdd.Option[*idle]) rdd.Option[*idle] {
	if !old.OK {
		old = rdd.Option[*idle]{Value: new(idle), OK: true}
	}
	old.Value.Idle++
	if len(values) > 0 {
		old.Value.Idle = 0
	}
	old.Value.N += len(values)
	old.OK = old.Value.Idle < 2
	return old
}

func TestMutableState_S5(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		s := dstream.UpdateStateByKey(input(d, words("mn", "none", "mom", "o", "none", "none")...), idleInPlace)
		n := func(p rdd.Pair[string, *idle]) rdd.Pair[string, int] {
			v := p.Value.N
			p.Value.N = -1 // the stream's consumers change what they get as well
			return rdd.Pair[string, int]{Key: p.Key, Value: v}
		}
		first, second := collect(dstream.Map(s, n)), collect(dstream.Map(s, n))
		d.run(6)
		want := "m:1 n:1; m:1 n:1; m:3 o:1; m:3 o:2; o:2; -"
		equal(t, first.text(6), want)
		equal(t, second.text(6), want)
	})
}

func TestCallsOfTheUpdateFunction(t *testing.T) {
	for _, c := range []struct {
		name string
		opts []dstream.StateOption
		want []int64
	}{
		{"S8_every_live_key", nil, []int64{1, 2, 2, 3, 3}},
		{"touched_only", []dstream.StateOption{dstream.TouchedOnly()}, []int64{1, 2, 0, 1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSetup(t, func(t *testing.T, d *driver) {
				var calls atomic.Int64
				collect(dstream.UpdateStateByKey(input(d, words("p", "pqq", "-", "r")...),
					func(values []int, old rdd.Option[int]) rdd.Option[int] {
						calls.Add(1)
						return sumState(values, old)
					}, c.opts...))
				d.start()
				for k, want := range c.want {
					d.steps(1)
					if got := calls.Swap(0); got != want {
						t.Errorf("batch %d: %d calls, want %d", k+1, got, want)
					}
				}
			})
		})
	}
}

// A batch whose partitions are lost is computed again, and gives the same.
func TestStateIsComputedAgain(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		for _, lose := range []string{"executor", "partitions"} {
			t.Run(lose+map[bool]string{true: "/isolated"}[isolate], func(t *testing.T) {
				d := newDriver(t, setup{parallelism: 3, isolate: isolate, executors: 1})
				d.keep = true
				in := words("mn", "none", "mom", "o", "mnop", "p", "-", "q")
				sums := runningSum(input(d, in...))
				mutable := dstream.UpdateStateByKey(input(d, in...), idleInPlace, dstream.StatePartitioned(rdd.NumPartitions(2)))
				windowed := dstream.ReduceByKeyAndWindow(input(d, in...), add, subtract, seconds(3), 0)
				paned := dstream.ReduceByKeyAndWindow(input(d, in...), largest, nil, seconds(5), 0)
				outs := []interface{ text(int) string }{
					collect(sums), collect(dstream.Map(mutable, func(p rdd.Pair[string, *idle]) rdd.Pair[string, idle] {
						return rdd.Pair[string, idle]{Key: p.Key, Value: *p.Value}
					})), collect(windowed), collect(paned),
				}
				d.start()
				d.steps(8)
				var first []string
				for _, o := range outs {
					first = append(first, o.text(8))
				}
				for k := 8; k >= 1; k-- {
					if lose == "executor" {
						d.cluster.Add()
						d.cluster.Kill(d.cluster.Executors()[0])
					} else if rdds, err := dstream.Slice(sums, sec(k-1), sec(k)); err == nil {
						for _, r := range rdds {
							r.Unpersist()
						}
					}
					jobs, err := d.graph.Generate(sec(k))
					if err != nil {
						t.Fatal(err)
					}
					for _, j := range jobs {
						if err := j.Run(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
				}
				for i, o := range outs {
					if !strings.Contains(first[i], "m") {
						t.Fatalf("output %d is %q", i, first[i])
					}
					equal(t, o.text(8), first[i])
				}
			})
		}
	}
}

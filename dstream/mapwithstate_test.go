package dstream_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

type (
	intState = dstream.State[int]
	letter   = rdd.Pair[string, int]
)

// counting is the function of most cases: the sum so far, kept and emitted.
func counting(key string, value rdd.Option[int], s *intState) letter {
	sum := s.Option().Value + value.Value
	_ = s.Update(sum) // refused in a call for a time-out only
	return letter{Key: key, Value: sum}
}

// silent keeps the sum and emits nothing.
func silent(_ dstream.Time, key string, value rdd.Option[int], s *intState) rdd.Option[string] {
	_ = s.Update(s.Option().Value + value.Value)
	return rdd.Option[string]{}
}

// toggling removes the state of a key that has one and emits the key; else it sets it.
func toggling(_ dstream.Time, key string, value rdd.Option[int], s *intState) rdd.Option[string] {
	if s.Exists() {
		if s.Remove() != nil {
			return rdd.Option[string]{}
		}
		return rdd.Option[string]{Value: key, OK: true}
	}
	_ = s.Update(value.Value)
	return rdd.Option[string]{}
}

// expiring keeps the sum and emits keys that time out.
func expiring(_ dstream.Time, key string, value rdd.Option[int], s *intState) rdd.Option[string] {
	if s.IsTimingOut() {
		return rdd.Option[string]{Value: key, OK: true}
	}
	_ = s.Update(s.Option().Value + value.Value)
	return rdd.Option[string]{}
}

// onlyOnce sets the state of a key that has none and emits keys that time out.
func onlyOnce(_ dstream.Time, key string, value rdd.Option[int], s *intState) rdd.Option[string] {
	if !s.Exists() {
		_ = s.Update(value.Value)
	}
	return rdd.Option[string]{Value: key, OK: s.IsTimingOut()}
}

// repeated is n batches: those given, then the last again.
func repeated(n int, batches ...string) []string {
	for len(batches) < n {
		batches = append(batches, batches[len(batches)-1])
	}
	return batches
}

// cases joins the answers of batches: each as often as it says.
func cases(parts ...any) string {
	var all []string
	for i := 0; i < len(parts); i += 2 {
		for range parts[i].(int) {
			all = append(all, parts[i+1].(string))
		}
	}
	return strings.Join(all, "; ")
}

func TestMapWithState(t *testing.T) {
	type spec = dstream.StateSpec[string, int, int, string]
	for _, c := range []struct {
		name       string
		in         []string
		spec       func(d *driver) spec
		out, state string
	}{
		{"M2_initial_and_nothing_emitted", []string{"-", "a", "c", "-"}, func(d *driver) spec {
			return dstream.NewTimedStateSpec(silent).Initial(rdd.Parallelize(d.rdds, pairs("b:1 a:4 b:9"), 2))
		}, "-; -; -; -", "a:4 b:9; a:5 b:9; a:5 b:9 c:1; a:5 b:9 c:1"},
		{"M2_initial_and_no_first_batch", []string{"none", "a"}, func(d *driver) spec {
			return dstream.NewTimedStateSpec(silent).Initial(rdd.Parallelize(d.rdds, pairs("a:4"), 3))
		}, "-; -", "a:4; a:5"},
		{"no_first_batch", []string{"none", "a"}, func(d *driver) spec { return dstream.NewTimedStateSpec(silent) }, "-; -", "-; a:1"},
		{"M4_time_out_at_the_tenth_batch", repeated(25, "abc", "ab", "a", "-", "-", "a"), func(d *driver) spec {
			return dstream.NewTimedStateSpec(expiring).Timeout(seconds(3))
		}, cases(9, "-", 1, "b c", 15, "-"),
			"a:1 b:1 c:1; a:2 b:2 c:1; " + cases(3, "a:3 b:2 c:1") + "; a:4 b:2 c:1; a:5 b:2 c:1; a:6 b:2 c:1; a:7 b:2 c:1; " +
				"a:8; a:9; a:10; a:11; a:12; a:13; a:14; a:15; a:16; a:17; a:18; a:19; a:20; a:21; a:22; a:23"},
		{"M7_no_state_and_a_time_out/S-02", repeated(12, "a", "b", "-"), func(d *driver) spec {
			return dstream.NewTimedStateSpec(func(_ dstream.Time, key string, _ rdd.Option[int], s *intState) rdd.Option[string] {
				return rdd.Option[string]{Value: key, OK: s.Exists() || s.IsTimingOut()}
			}).Timeout(seconds(1))
		}, cases(12, "-"), cases(12, "-")},
		{"M9_update_then_remove", []string{"ab", "a"}, func(d *driver) spec {
			return dstream.NewTimedStateSpec(func(_ dstream.Time, key string, v rdd.Option[int], s *intState) rdd.Option[string] {
				err := errors.Join(s.Update(v.Value), s.Remove())
				return rdd.Option[string]{Value: fmt.Sprint(key, s.Exists(), err), OK: true}
			})
		}, "afalse <nil> bfalse <nil>; afalse <nil>", "-; -"},
		{"M9_remove_of_nothing", []string{"a"}, func(d *driver) spec {
			return dstream.NewTimedStateSpec(func(_ dstream.Time, key string, v rdd.Option[int], s *intState) rdd.Option[string] {
				return rdd.Option[string]{Value: fmt.Sprint(s.Remove()), OK: true}
			})
		}, "<nil>", "-"},
		{"data_without_an_update_counts/S-01", repeated(25, "ab", "a"), func(d *driver) spec {
			return dstream.NewTimedStateSpec(onlyOnce).Timeout(seconds(3))
		}, cases(9, "-", 1, "b", 15, "-"), cases(9, "a:1 b:1", 16, "a:1")},
		{"data_in_the_batch_that_looks_for_time-outs_counts/S-04", repeated(12, "ab", "-", "-", "-", "-", "-", "-", "-", "-", "a", "-"), func(d *driver) spec {
			return dstream.NewTimedStateSpec(expiring).Timeout(seconds(3))
		}, cases(9, "-", 1, "b", 2, "-"), cases(9, "a:1 b:1", 3, "a:2")},
		{"initial_state_has_the_time_of_the_first_batch", repeated(10, "-"), func(d *driver) spec {
			return dstream.NewTimedStateSpec(expiring).Timeout(seconds(8)).Initial(rdd.Parallelize(d.rdds, pairs("a:1"), 1))
		}, cases(9, "-", 1, "a"), cases(9, "a:1", 1, "-")},
		{"just_not_too_old", repeated(20, "-"), func(d *driver) spec {
			return dstream.NewTimedStateSpec(expiring).Timeout(seconds(9)).Initial(rdd.Parallelize(d.rdds, pairs("a:1"), 1))
		}, cases(19, "-", 1, "a"), cases(19, "a:1", 1, "-")},
		{"M5_not_older_than_the_time_out", []string{"a", "-"}, func(d *driver) spec {
			return dstream.NewTimedStateSpec(expiring).Timeout(seconds(1))
		}, "-; -", "a:1; a:1"},
		{"M5_a_millisecond_older", []string{"a", "-"}, func(d *driver) spec {
			return dstream.NewTimedStateSpec(expiring).Timeout(999 * time.Millisecond)
		}, "-; a", "a:1; -"},
		{"M6_data_without_an_update", []string{"a", "a", "-", "-"}, func(d *driver) spec {
			return dstream.NewTimedStateSpec(onlyOnce).Timeout(999 * time.Millisecond)
		}, "-; -; -; a", "a:1; a:1; a:1; -"},
		{"M6_no_time_out", []string{"a", "a", "-", "-"}, func(d *driver) spec {
			return dstream.NewTimedStateSpec(onlyOnce)
		}, "-; -; -; -", "a:1; a:1; a:1; a:1"},
		{"own_partitions", []string{"abc", "ab"}, func(d *driver) spec {
			return dstream.NewTimedStateSpec(toggling).Partitioner(rdd.Hash[string](5))
		}, "-; a b", "a:1 b:1 c:1; c:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSetup(t, func(t *testing.T, d *driver) {
				m := dstream.MapWithState(input(d, words(c.in...)...), c.spec(d))
				if strings.HasPrefix(c.name, "M5") || strings.HasPrefix(c.name, "M6") {
					if err := m.Checkpoint(seconds(2)); err != nil { // the second batch is one that looks for time-outs
						t.Fatal(err)
					}
				}
				out, states := collect(m.DStream), collect(m.StateSnapshots())
				n := batchesIn(c.out)
				d.run(n)
				equal(t, out.text(n), c.out)
				equal(t, states.text(n), c.state)
			})
		})
	}
}

func TestMapWithStateCounts(t *testing.T) {
	for _, c := range []struct {
		name       string
		in         []string
		out, state string
	}{
		{"M1", []string{"a", "ab", "-", "b"}, "a:1; a:2 b:1; -; b:2", "a:1; a:2 b:1; a:2 b:1; a:2 b:2"},
		{"M10_absent_batch", []string{"a", "none", "a"}, "a:1; -; a:2", "a:1; a:1; a:2"},
		{"records_of_a_key_see_each_other", []string{"aaa"}, "a:1 a:2 a:3", "a:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSetup(t, func(t *testing.T, d *driver) {
				m := dstream.MapWithState(input(d, words(c.in...)...), dstream.NewStateSpec(counting))
				out, states := collect(m.DStream), collect(m.StateSnapshots())
				n := batchesIn(c.out)
				d.run(n)
				equal(t, out.text(n), c.out)
				equal(t, states.text(n), c.state)
			})
		})
	}
}

// M3 is about the order of records, so there is one partition.
func TestRemovedAndSetAgainInOneBatch_M3(t *testing.T) {
	d := newDriver(t, setup{parallelism: 1})
	m := dstream.MapWithState(dstream.SliceStream(d.graph, words("a", "ab", "abb"), 1), dstream.NewTimedStateSpec(toggling).NumPartitions(1))
	out, states := collect(m.DStream), collect(m.StateSnapshots())
	d.run(3)
	equal(t, out.text(3), "-; a; b")
	equal(t, states.text(3), "a:1; b:1; a:1 b:1")
}

// What State returns in each situation (M8).
func TestState_M8(t *testing.T) {
	d := newDriver(t, setup{parallelism: 1})
	var mu sync.Mutex
	seen := map[string][]string{}
	note := func(key string, what ...any) {
		mu.Lock()
		defer mu.Unlock()
		seen[key] = append(seen[key], fmt.Sprint(what...))
	}
	m := dstream.MapWithState(input(d, words(repeated(10, "ra", "-")...)...),
		dstream.NewTimedStateSpec(func(_ dstream.Time, key string, v rdd.Option[int], s *intState) rdd.Option[string] {
			get := func() string { x, err := s.Get(); return fmt.Sprint(x, " ", err) }
			switch {
			case s.IsTimingOut():
				note(key, s.Exists(), " ", get(), " ", s.Option(), " ", v)
				note(key, errors.Is(s.Update(1), dstream.ErrStateTimingOut), errors.Is(s.Remove(), dstream.ErrStateTimingOut))
				note(key, get())
			case key == "r":
				note(key, s.Exists(), " ", get(), " ", s.Option())
				note(key, s.Update(5), " ", get(), " ", s.Option())
				note(key, s.Remove(), " ", s.Exists(), " ", get(), " ", s.Option())
				note(key, errors.Is(s.Update(1), dstream.ErrStateRemoved), errors.Is(s.Remove(), dstream.ErrStateRemoved))
			default:
				_ = s.Update(7)
			}
			return rdd.Option[string]{}
		}).Timeout(seconds(3)))
	collect(m.DStream)
	d.run(10)
	for key, want := range map[string][]string{
		"a": {"true 7 <nil> Some(7) None", "true true", "7 <nil>"},
		"r": {"false 0 state is not set None", "<nil> 5 <nil> Some(5)", "<nil> false 0 state is not set None", "true true"},
	} {
		if !slices.Equal(seen[key], want) {
			t.Errorf("%s: got %q, want %q", key, seen[key], want)
		}
	}
}

func TestCheckpointOfMapWithState_M11(t *testing.T) {
	d := newDriver(t, setup{parallelism: 1})
	in := input(d, words("a")...)
	of := func(checkpoint time.Duration) *dstream.StatefulDStream[string, int, letter] {
		m := dstream.MapWithState(in, dstream.NewStateSpec(counting))
		if checkpoint != 0 {
			if err := m.DStream.Checkpoint(checkpoint); err != nil { // the same as m.Checkpoint
				t.Fatal(err)
			}
		}
		collect(m.DStream)
		return m
	}
	automatic, chosen := of(0), of(seconds(2))
	d.run(4)
	for _, c := range []struct {
		name                  string
		m                     *dstream.StatefulDStream[string, int, letter]
		checkpoint, remember  time.Duration
		level                 rdd.StorageLevel
		rememberedAfterFourth int
	}{
		{"automatic", automatic, seconds(10), seconds(20), rdd.MemoryOnly(), 4},
		{"chosen", chosen, seconds(2), seconds(4), rdd.MemoryOnlySer(), 4},
	} {
		info := c.m.Info()
		if info.Checkpoint != 0 || info.Level != (rdd.StorageLevel{}) || info.Remember != seconds(1) {
			t.Errorf("%s: the visible stream has %+v", c.name, info)
		}
		states := c.m.Parents()[0]
		if info := states.Info(); info.Checkpoint != c.checkpoint || info.Remember != c.remember || info.Level != c.level {
			t.Errorf("%s: the states have %+v", c.name, info)
		}
		if n := len(states.Remembered()); n != c.rememberedAfterFourth {
			t.Errorf("%s: states of %d batches are held", c.name, n)
		}
	}
	if err := automatic.Checkpoint(seconds(2)); !errors.Is(err, dstream.ErrContextActive) {
		t.Errorf("after the start: %v", err)
	}
}

// The function is called for the records of the batch and for keys that time out (M12).
func TestCallsOfAStateFunction_M12(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		var calls atomic.Int64
		m := dstream.MapWithState(input(d, words("abc", "ab", "a", "-", "none", "cc")...),
			dstream.NewTimedStateSpec(func(now dstream.Time, key string, v rdd.Option[int], s *intState) rdd.Option[string] {
				calls.Add(1)
				return expiring(now, key, v, s)
			}).Timeout(seconds(3)))
		collect(m.DStream)
		collect(m.StateSnapshots())
		d.start()
		for k, want := range []int64{3, 2, 1, 0, 0, 2, 0, 0, 0, 3} {
			d.steps(1)
			if got := calls.Swap(0); got != want {
				t.Errorf("batch %d: %d calls, want %d", k+1, got, want)
			}
		}
	})
}

// tally is a state that functions change in place.
type tally struct{ N int }

func tallying(key string, _ rdd.Option[int], s *dstream.State[*tally]) *tally {
	n, err := s.Get()
	if err != nil {
		n = new(tally)
	}
	n.N++
	_ = s.Update(n)
	return n
}

// A batch that is computed again starts from the states as they were, whatever was done to them since.
func TestStatesAreComputedAgain(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		t.Run(fmt.Sprintf("isolate=%t", isolate), func(t *testing.T) {
			d := newDriver(t, setup{parallelism: 3, isolate: isolate, executors: 1})
			d.keep = true
			m := dstream.MapWithState(input(d, words("mn", "none", "mom", "o", "mnop", "p", "-", "q", "-", "-", "m")...),
				dstream.NewStateSpec(tallying).Timeout(seconds(4)))
			n := func(x *tally) int {
				n := x.N
				x.N = -1 // the stream's consumers change what they get
				return n
			}
			of := func(p rdd.Pair[string, *tally]) letter { return letter{Key: p.Key, Value: n(p.Value)} }
			outs := []interface{ text(int) string }{
				collect(dstream.Map(m.DStream, n)), collect(dstream.Map(m.DStream, n)),
				collect(dstream.Map(m.StateSnapshots(), of)), collect(dstream.Map(m.StateSnapshots(), of)),
			}
			d.start()
			d.steps(11)
			var first []string
			for _, o := range outs {
				first = append(first, o.text(11))
			}
			equal(t, first[1], first[0])
			equal(t, first[3], first[2])
			if !strings.Contains(first[2], "m:4") || strings.Contains(first[2], "-1") {
				t.Fatalf("states are %s", first[2])
			}
			for k := 11; k >= 1; k-- {
				d.cluster.Add()
				d.cluster.Kill(d.cluster.Executors()[0])
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
				equal(t, o.text(11), first[i])
			}
		})
	}
}

// Several actions on a batch see the same, and its states change once (S-22).
func TestSeveralActionsChangeStatesOnce_S22(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		var calls atomic.Int64
		m := dstream.MapWithState(input(d, words("ab", "a", "bb")...), dstream.NewStateSpec(func(key string, v rdd.Option[int], s *intState) letter {
			calls.Add(1)
			return counting(key, v, s)
		}))
		var got []string
		dstream.ForeachRDD(m.DStream, func(ctx ctx, r *rdd.RDD[letter], _ dstream.Time) error {
			n, err := r.Count(ctx)
			if err != nil {
				return err
			}
			first, err := r.Collect(ctx)
			if err != nil {
				return err
			}
			again, err := r.Collect(ctx)
			got = append(got, fmt.Sprint(n, " ", textOf(first, true), " = ", textOf(again, true)))
			return err
		})
		d.run(3)
		equal(t, strings.Join(got, "; "), "2 a:1 b:1 = a:1 b:1; 1 a:2 = a:2; 2 b:2 b:3 = b:2 b:3")
		if n := calls.Load(); n != 5 {
			t.Errorf("%d calls for 5 records", n)
		}
	})
}

func TestErrorsOfStateFunctions(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		m := dstream.MapWithState(input(d, words("a", "b")...),
			dstream.NewTryStateSpec(func(now dstream.Time, key string, v rdd.Option[int], s *intState) (rdd.Option[string], error) {
				if now == sec(2) {
					_, err := s.Get()
					return rdd.Option[string]{}, err
				}
				return rdd.Option[string]{Value: key, OK: true}, s.Update(1)
			}))
		out := collect(m.DStream)
		d.start()
		if err := d.step(); err != nil {
			t.Fatal(err)
		}
		equal(t, out.text(1), "a")
		err := d.step()
		if !errors.Is(err, dstream.ErrNoState) {
			t.Errorf("got %v, want %v", err, dstream.ErrNoState)
		}
		var user *rdd.UserError
		if !errors.As(err, &user) || !strings.Contains(user.Site, "mapwithstate_test.go") || user.Offset != 0 {
			t.Errorf("got %+v", user)
		}
	})
}

func TestSpecsThatCannotWork(t *testing.T) {
	spec := dstream.NewTimedStateSpec(silent)
	var noFunction dstream.StateSpec[string, int, int, string]
	for name, c := range map[string]struct {
		spec dstream.StateSpec[string, int, int, string]
		want error
	}{
		"no function":       {noFunction, dstream.ErrNilFunction},
		"nil function":      {dstream.NewTimedStateSpec[string, int, int, string](nil), dstream.ErrNilFunction},
		"nil plain":         {dstream.NewStateSpec[string, int, int, string](nil), dstream.ErrNilFunction},
		"nil try":           {dstream.NewTryStateSpec[string, int, int, string](nil), dstream.ErrNilFunction},
		"no partitions":     {spec.NumPartitions(0), dstream.ErrArgument},
		"no partitioner":    {spec.Partitioner(nil), dstream.ErrArgument},
		"negative time-out": {spec.Timeout(-1), dstream.ErrBadDuration},
		"half a time-out":   {spec.Timeout(1500 * time.Microsecond), dstream.ErrBadDuration},
		"last call wins":    {spec.NumPartitions(0).NumPartitions(2).Timeout(-1).Timeout(seconds(1)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, setup{parallelism: 1})
			m := dstream.MapWithState(input(d, words("a")...), c.spec)
			collect(m.DStream)
			err := d.graph.Start(0)
			if !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("Start: got %v, want %v", err, c.want)
			}
			if c.want != nil && !strings.Contains(err.Error(), "mapwithstate_test.go") {
				t.Errorf("no place in %v", err)
			}
		})
	}
	if got, want := spec.NumPartitions(3).Timeout(seconds(2)).String(), "mapWithState: 3 partitions, initial state false, time-out 2s"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMapWithStateNeedsACheckpointDirectory(t *testing.T) {
	d := newDriver(t, setup{parallelism: 1, noDir: true})
	collect(dstream.MapWithState(input(d, words("a")...), dstream.NewStateSpec(counting)).DStream)
	if err := d.graph.Start(0); !errors.Is(err, dstream.ErrCheckpointDirNotSet) {
		t.Errorf("got %v", err)
	}
}

// One stream with state on another: both have their lineage cut.
func TestStatesOfStates(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		first := dstream.MapWithState(input(d, words("a", "ab", "-", "a")...), dstream.NewStateSpec(counting))
		second := dstream.MapWithState(first.DStream, dstream.NewStateSpec(counting))
		out := collect(second.DStream)
		d.run(5)
		equal(t, out.text(5), "a:1; a:3 b:1; -; a:6; -")
	})
}

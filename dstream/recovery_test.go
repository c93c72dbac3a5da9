package dstream_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// recordedInput is an input that a later process is told of what it gave. What it gives is fixed by time, so a
// test sees whether it was asked for the right times.
type recordedInput struct {
	t        *testing.T
	batches  [][]rdd.Pair[string, int] // from 1000 ms on; nil: absent
	replayed map[dstream.Time]bool
	last     dstream.Time // up to which only what was replayed may be asked for
	asked    []dstream.Time
}

func (in *recordedInput) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[rdd.Pair[string, int]], error) {
	if slices.Contains(in.asked, t) {
		in.t.Errorf("batch %s is asked for twice", t)
	}
	in.asked = append(in.asked, t)
	if t <= in.last && !in.replayed[t] {
		in.t.Errorf("batch %s is asked for and was not recorded", t)
	}
	k := int(t/1000) - 1
	if k < len(in.batches) && in.batches[k] == nil {
		return nil, nil
	}
	var rows []rdd.Pair[string, int]
	if k < len(in.batches) {
		rows = in.batches[k]
	}
	return rdd.Parallelize(c, rows, 3), nil
}

func (in *recordedInput) Record(t dstream.Time) ([]byte, error) {
	return fmt.Append(nil, int64(t)), nil
}

func (in *recordedInput) Replay(t dstream.Time, recorded []byte) error {
	if string(recorded) != fmt.Sprint(int64(t)) {
		in.t.Errorf("batch %s: replayed %q", t, recorded)
	}
	in.replayed[t] = true
	return nil
}

// layout is what a stream's batches are, partition by partition.
type layout interface{ at(dstream.Time) string }

func (r *results[T]) at(t dstream.Time) string {
	parts, ok := r.parts[t]
	if !ok {
		return "none"
	}
	text := ""
	for _, p := range parts {
		text += fmt.Sprint(p)
	}
	return text
}

// A process is a graph at work, as long as it lives.
type process struct {
	*driver
	in   *recordedInput
	outs []layout
}

// program is what processes have in common.
type program struct {
	rows  []string // batches of the input, as words wants them
	parts int      // parallelism
	build func(d *driver, s *counts) []layout
}

func (p program) launch(t *testing.T, dir string) *process {
	d := newDriver(t, setup{parallelism: max(p.parts, 3), dir: dir, durable: true})
	in := &recordedInput{t: t, batches: words(p.rows...), replayed: map[dstream.Time]bool{}}
	s := dstream.NewInput(d.graph, "recorded", "Recorded stream", in)
	d.graph.KeepCheckpoints(true)
	return &process{driver: d, in: in, outs: p.build(d, s)}
}

// goOn starts a process where another one has left off: batches up to last were begun, those before next have ended.
func (p *process) goOn(last, next int, files []dstream.StreamCheckpoint) error {
	oldest := p.graph.OldestInput(sec(next), files)
	var times []dstream.Time
	for k := 1; k <= last; k++ {
		if sec(k) >= oldest {
			times = append(times, sec(k))
			record, _ := p.in.Record(sec(k))
			_ = p.in.Replay(sec(k), record)
		}
	}
	p.now, p.in.last = sec(next-1), sec(last)
	return p.graph.Recover(dstream.Recovery{Zero: 0, Last: sec(last), Times: times, Whole: oldest <= 1000, Streams: files})
}

func keepIt[T any](s *dstream.DStream[T]) *dstream.DStream[T] {
	if err := s.Checkpoint(seconds(2)); err != nil {
		panic(err)
	}
	return s
}

func one[T any](s *dstream.DStream[T]) []layout { return []layout{collect(s)} }

var recoveryRows = []string{"aab", "cc", "-", "aab", "none", "cdd", "a", "bce", "none", "f", "aaf", "e"}

func programs() map[string]program {
	countLetters := dstream.NewStateSpec(func(k string, v rdd.Option[int], s *dstream.State[int]) string {
		n := s.Option().Value + v.Value
		if s.IsTimingOut() {
			return k + " is gone"
		}
		_ = s.Update(n)
		return fmt.Sprint(k, n)
	})
	own := rdd.PartitionFunc("own", 3, func(k string) int { return int(k[0]) % 3 })
	all := map[string]program{
		"F7_reduceByKey": {build: func(_ *driver, s *counts) []layout { return one(dstream.ReduceByKey(s, add)) }},
		"F8_inverse_window": {build: func(_ *driver, s *counts) []layout {
			return one(keepIt(dstream.ReduceByKeyAndWindow(s, add, subtract, seconds(4), 0)))
		}},
		"inverse_window_sliding_by_two": {build: func(_ *driver, s *counts) []layout {
			return one(keepIt(dstream.ReduceByKeyAndWindow(s, add, subtract, seconds(4), seconds(2),
				dstream.KeepWindowed(func(p rdd.Pair[string, int]) bool { return p.Value != 0 }))))
		}},
		"F9_updateStateByKey": {build: func(_ *driver, s *counts) []layout { return one(keepIt(runningSum(s))) }},
		"touched_only":        {build: func(_ *driver, s *counts) []layout { return one(keepIt(runningSum(s, dstream.TouchedOnly()))) }},
		"automatic_interval":  {build: func(_ *driver, s *counts) []layout { return one(runningSum(s)) }},
		"initial_state": {build: func(d *driver, s *counts) []layout {
			return one(keepIt(runningSum(s, dstream.InitialState(rdd.Parallelize(d.rdds, pairs("z:1 a:10"), 2)))))
		}},
		"own_partitioner": {build: func(_ *driver, s *counts) []layout {
			sums := keepIt(runningSum(s, dstream.StatePartitioned(rdd.PartitionedBy(own))))
			return []layout{collect(sums), collect(dstream.ReduceByKey(sums, add, rdd.PartitionedBy(own)))}
		}},
		"updateStateByKeyIter": {build: func(_ *driver, s *counts) []layout { return one(keepIt(dstream.UpdateStateByKeyIter(s, sumIter))) }},
		"updateStateByKeyIter_forgets_partitioner": {build: func(_ *driver, s *counts) []layout {
			return one(keepIt(dstream.UpdateStateByKeyIter(s, sumIter, dstream.ForgetPartitioner())))
		}},
		"F10_mapWithState": {build: func(_ *driver, s *counts) []layout {
			m := dstream.MapWithState(s, countLetters)
			keepIt(m.DStream)
			return []layout{collect(m.DStream), collect(m.StateSnapshots())}
		}},
		"F10_mapWithState_timing_out": {build: func(_ *driver, s *counts) []layout {
			m := dstream.MapWithState(s, countLetters.Timeout(seconds(3)).NumPartitions(3))
			keepIt(m.DStream)
			return []layout{collect(m.DStream), collect(m.StateSnapshots())}
		}},
		"F11_window_over_everything": {build: func(_ *driver, s *counts) []layout { return one(dstream.Window(s, seconds(100), 0)) }},
		"window_sliding_by_two":      {build: func(_ *driver, s *counts) []layout { return one(dstream.Window(s, seconds(4), seconds(2))) }},
		"panes": {build: func(_ *driver, s *counts) []layout {
			return one(dstream.ReduceByKeyAndWindow(s, largest, nil, seconds(5), 0))
		}},
		"panes_sliding_by_two": {build: func(_ *driver, s *counts) []layout {
			return one(dstream.ReduceByKeyAndWindow(s, largest, nil, seconds(4), seconds(2)))
		}},
		"panes_sliding_by_three_of_seven": {build: func(_ *driver, s *counts) []layout {
			return one(dstream.ReduceByKeyAndWindow(s, largest, nil, seconds(7), seconds(3)))
		}},
		"transform": {build: func(_ *driver, s *counts) []layout {
			sums := keepIt(runningSum(s))
			return one(dstream.Transform(sums, func(r *rdd.RDD[rdd.Pair[string, int]], t dstream.Time) (*rdd.RDD[string], error) {
				return rdd.Map(r, func(p rdd.Pair[string, int]) string { return fmt.Sprint(p, t) }), nil
			}))
		}},
		"F13_chained_states": {build: func(_ *driver, s *counts) []layout {
			first := runningSum(s)
			second := runningSum(first)
			for _, s := range []*counts{first, second} {
				if err := s.Checkpoint(seconds(1)); err != nil {
					panic(err)
				}
			}
			return one(second)
		}},
		"state_of_a_window_of_state": {build: func(_ *driver, s *counts) []layout {
			first := keepIt(runningSum(s))
			w := dstream.ReduceByKeyAndWindow(first, add, subtract, seconds(3), 0)
			second := runningSum(w, dstream.StatePartitioned(rdd.NumPartitions(3)))
			if err := second.Checkpoint(seconds(3)); err != nil {
				panic(err)
			}
			return one(second)
		}},
		"checkpoint_set_by_the_program": {build: func(_ *driver, s *counts) []layout {
			return one(dstream.Window(keepIt(dstream.ReduceByKey(s, add)), seconds(3), 0))
		}},
		"count_by_window": {build: func(_ *driver, s *counts) []layout { return one(dstream.CountByWindow(s, seconds(3), 0)) }},
		"F14_three_outputs_of_one_stream": {build: func(_ *driver, s *counts) []layout {
			mapped := dstream.Map(s, func(p rdd.Pair[string, int]) string { return p.Key })
			return []layout{collect(mapped), collect(mapped), collect(dstream.Window(mapped, seconds(3), 0))}
		}},
	}
	for name, p := range all {
		p.rows = recoveryRows
		all[name] = p
	}
	return all
}

// Killed behind any batch, a program goes on in a new process as if nothing had been: the outputs of each later batch are the
// same, partition by partition. The new process is killed after a batch as well.
func TestRecovery(t *testing.T) {
	const n = 12
	for name, p := range programs() {
		t.Run(name, func(t *testing.T) {
			first := p.launch(t, "")
			dir := first.rdds.Options().CheckpointDir
			first.start()
			files := [][]dstream.StreamCheckpoint{nil}
			for range n {
				first.steps(1)
				files = append(files, first.graph.Checkpoint())
			}
			if text := first.outs[0].at(sec(10)) + first.outs[0].at(sec(12)); len(text) < 6 {
				t.Fatalf("the first output is %q", text)
			}
			same := func(q *process, what string, from, to int) {
				t.Helper()
				for i, out := range q.outs {
					for k := from; k <= to; k++ {
						if got, want := out.at(sec(k)), first.outs[i].at(sec(k)); got != want {
							t.Errorf("%s: output %d of batch %d:\ngot  %s\nwant %s", what, i, k, got, want)
						}
					}
				}
			}
			for k := range n {
				again := p.launch(t, dir)
				what := fmt.Sprintf("killed after batch %d", k)
				if err := again.goOn(k, k+1, files[k]); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				again.steps(1)
				same(again, what, k+1, k+1)
				soon := p.launch(t, dir)
				what += " and once more"
				if err := soon.goOn(k+1, k+2, again.graph.Checkpoint()); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				more := min(3, n-k-1)
				soon.steps(more)
				same(soon, what, k+2, k+1+more)
			}
			for k := 2; k < n; k += 3 { // batch k and the one before were begun, and had not ended
				again := p.launch(t, dir)
				what := fmt.Sprintf("killed within batch %d", k)
				if err := again.goOn(k, k-1, files[k]); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				again.steps(n - k + 2)
				same(again, what, k-1, n)
			}
		})
	}
}

// What an inverse window, a state and a window ask their input for after a recovery.
func TestInputsAskedForByARecovery(t *testing.T) {
	for _, c := range []struct {
		name, want string
		last, next int
	}{
		{"F8_inverse_window", "3 4 5 6 7 8 9 10", 7, 8},      // behind the one of 6: batch 3 leaves the window of 7
		{"F9_updateStateByKey", "7 8 9 10", 7, 8},            // behind the state of 6
		{"F10_mapWithState", "7 8 9 10", 7, 8},               // behind the states of 6
		{"automatic_interval", "1 2 3 4 5 6 7 8 9 10", 7, 8}, // nothing is in files yet
		{"window_sliding_by_two", "5 6 7 8 9 10", 7, 8},
		{"F7_reduceByKey", "8 9 10", 7, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := programs()[c.name]
			first := p.launch(t, "")
			first.run(c.last)
			again := p.launch(t, first.rdds.Options().CheckpointDir)
			if err := again.goOn(c.last, c.next, first.graph.Checkpoint()); err != nil {
				t.Fatal(err)
			}
			again.steps(3)
			slices.Sort(again.in.asked)
			got := ""
			for i, at := range again.in.asked {
				if i > 0 {
					got += " "
				}
				got += fmt.Sprint(int64(at) / 1000)
			}
			equal(t, got, c.want)
		})
	}
}

func TestWrittenCheckpointsOfARememberedState_F12(t *testing.T) {
	p := programs()["F9_updateStateByKey"]
	d := p.launch(t, "")
	d.start()
	for k, want := range []string{"[]", "[2]", "[2]", "[2 4]", "[2 4]", "[4 6]"} {
		d.steps(1)
		got := []int64{}
		for _, s := range d.graph.Checkpoint() {
			if s.Op != "updateStateByKey" {
				t.Errorf("%s is written", s.Op)
			}
			for _, f := range s.Files {
				got = append(got, int64(f.Time)/1000)
			}
		}
		if k+1 != 2 && k+1 != 4 && k+1 != 5 && k+1 != 6 {
			continue
		}
		equal(t, fmt.Sprint(got), want)
	}
	again := newDriver(t, setup{parallelism: 3, dir: d.rdds.Options().CheckpointDir})
	sums := keepIt(runningSum(dstream.NewInput(again.graph, "recorded", "Recorded stream", &recordedInput{t: t})))
	collect(sums)
	if err := again.graph.Recover(dstream.Recovery{Last: sec(6), Streams: d.graph.Checkpoint()}); err != nil {
		t.Fatal(err)
	}
	equal(t, held(sums), "4 6")
	if zero, ok := again.graph.Zero(); !ok || zero != 0 {
		t.Errorf("zero %s, started %t", zero, ok)
	}
	again.graph.Forget(sec(8))
	equal(t, held(sums), "6")
	if n := len(again.graph.Scopes(nil)); n != 1 {
		t.Errorf("%d scopes are held, want that of batch 6", n)
	}
}

func TestForgottenAndMissedBatches(t *testing.T) {
	p := programs()["F9_updateStateByKey"]
	first := p.launch(t, "")
	first.run(7)
	files, dir := first.graph.Checkpoint(), first.rdds.Options().CheckpointDir
	t.Run("an_input_that_is_forgotten", func(t *testing.T) {
		again := p.launch(t, dir)
		if err := again.graph.Recover(dstream.Recovery{Last: sec(9), Times: []dstream.Time{sec(9)}, Streams: files}); err != nil {
			t.Fatal(err)
		}
		_, err := again.graph.Generate(sec(10))
		var g *dstream.GenerationError
		if !errors.Is(err, dstream.ErrForgotten) || !errors.As(err, &g) || g.Batch != sec(7) || g.Op != "recorded" {
			t.Errorf("got %v, want ErrForgotten of batch 7", err)
		}
	})
	t.Run("a_batch_that_was_never_begun", func(t *testing.T) {
		again := p.launch(t, dir)
		again.in.replayed[sec(7)] = true
		if err := again.graph.Recover(dstream.Recovery{Last: sec(9), Times: []dstream.Time{sec(7)}, Streams: files}); err != nil {
			t.Fatal(err)
		}
		again.now = sec(9)
		again.steps(1)
		equal(t, again.outs[0].at(sec(10)), "[(a,5) (b,2)][(c,3) (d,2) (f,1)][]")
		for _, at := range again.in.asked {
			if at == sec(8) || at == sec(9) {
				t.Errorf("batch %s is asked for", at)
			}
		}
	})
	t.Run("nothing_is_forgotten", func(t *testing.T) {
		again := p.launch(t, dir)
		if err := again.graph.Recover(dstream.Recovery{Last: sec(3), Times: []dstream.Time{sec(3)}, Whole: true}); err != nil {
			t.Fatal(err)
		}
		again.in.replayed[sec(3)], again.now = true, sec(3)
		again.steps(1)
		equal(t, fmt.Sprint(again.in.asked), "[3000 ms 4000 ms]")
	})
}

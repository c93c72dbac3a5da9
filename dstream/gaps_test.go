package dstream_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// skipTo makes batch k the next one.
func (d *driver) skipTo(k int) {
	d.graph.LeaveOut(dstream.Gap{After: d.now, Before: sec(k)})
	d.now = sec(k - 1)
}

// Whatever batches are left out, and however many, windows are those of the batches that there were, and states are made from the
// batch before.
func TestGaps_windows_and_states_of_the_batches_that_there_are(t *testing.T) {
	everything := func(rdd.Pair[string, int]) bool { return true }
	notZero := func(p rdd.Pair[string, int]) bool { return p.Value != 0 }
	rapid.Check(t, func(rt *rapid.T) {
		window := rapid.IntRange(1, 9).Draw(rt, "window")
		slide := rapid.IntRange(1, 4).Draw(rt, "slide")
		n := rapid.IntRange(4, 40).Draw(rt, "batches")
		batches := make([][]rdd.Pair[string, int], n)
		all := drawBatches(rt, n)
		d := newDriver(t, setup{parallelism: rapid.IntRange(1, 3).Draw(rt, "parts")})
		in := input(d, all...)
		panes := collect(dstream.ReduceByKeyAndWindow(in, largest, nil, seconds(window), seconds(slide)))
		inverse := keepIt(dstream.ReduceByKeyAndWindow(in, add, subtract, seconds(window), 0, dstream.KeepWindowed(notZero)))
		sums := collect(inverse)
		slow := collect(dstream.ReduceByKeyAndWindow(in, add, subtract, seconds(window), seconds(slide), dstream.KeepWindowed(notZero)))
		plain := collect(dstream.Window(in, seconds(window), seconds(slide)))
		total := collect(runningSum(in))
		d.start()
		running := map[string]int{}
		began := false
		for k := 1; k <= n; k++ {
			if gap := rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5, 20}).Draw(rt, "gap"); gap > 0 {
				if k += gap; k > n {
					break
				}
				d.skipTo(k)
			}
			batches[k-1] = all[k-1]
			if err := d.step(); err != nil {
				rt.Fatalf("batch %d: %v", k, err)
			}
			began = began || batches[k-1] != nil
			for _, p := range batches[k-1] {
				running[p.Key] += p.Value
			}
			check := func(what string, r *results[rdd.Pair[string, int]], want string) {
				rows, ok := r.rows[sec(k)]
				if got := textOf(rows, ok); got != want {
					rt.Fatalf("batch %d: %s is %q, want %q", k, what, got, want)
				}
			}
			check("the window with an inverse", sums, reduceFromScratch(batches, add, k, window, notZero))
			want := "none"
			if began {
				want = textOf(pairsOf(running), true)
			}
			check("the total", total, want)
			if k%slide != 0 {
				continue
			}
			check("the window", panes, reduceFromScratch(batches, largest, k, window, everything))
			check("the window with an inverse and a slide", slow, reduceFromScratch(batches, add, k, window, notZero))
			rows, ok := plain.rows[sec(k)]
			check("the plain window", &results[rdd.Pair[string, int]]{rows: map[dstream.Time][]rdd.Pair[string, int]{sec(k): rows}},
				textOf(slices.Concat(batches[max(0, k-window):k]...), ok))
		}
	})
}

func pairsOf(m map[string]int) []rdd.Pair[string, int] {
	var all []rdd.Pair[string, int]
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, rdd.Pair[string, int]{Key: k, Value: m[k]})
	}
	return all
}

// A checkpoint that was due in a gap is written by the batch after it, so lineage does not grow.
func TestGaps_checkpoints_that_fall_into_them(t *testing.T) {
	d := newDriver(t, setup{parallelism: 1})
	total := keepIt(runningSum(input(d, words("a", "", "", "b", "", "", "c")...)))
	collect(total)
	d.start()
	d.keep = true
	for k := 1; k <= 7; k += 3 { // 2, 4 and 6 are left out
		if k > 1 {
			d.skipTo(k)
		}
		if err := d.step(); err != nil {
			t.Fatal(err)
		}
	}
	var written []dstream.Time
	for _, f := range d.graph.Checkpoint()[0].Files {
		written = append(written, f.Time)
	}
	if want := []dstream.Time{sec(4), sec(7)}; !slices.Equal(written, want) {
		t.Errorf("checkpoints of %v, want %v", written, want)
	}
}

// 100,000 batches that are left out cost nothing.
func TestGaps_cost_nothing_however_long(t *testing.T) {
	d := newDriver(t, setup{parallelism: 1})
	in := dstream.ConstantStream(d.graph, rdd.Parallelize(d.rdds, pairs("a:1"), 1))
	sums := collect(dstream.ReduceByKeyAndWindow(in, add, subtract, seconds(3), 0))
	most := collect(dstream.ReduceByKeyAndWindow(in, largest, nil, seconds(3), seconds(2)))
	total := collect(runningSum(in))
	d.run(4)
	d.skipTo(100_004)
	d.steps(1)
	if held := len(in.Remembered()); held > 10 {
		t.Errorf("%d batches are remembered", held)
	}
	for got, want := range map[string]string{textOf(sums.rows[d.now], true): "a:1", textOf(most.rows[d.now], true) + " ": "a:1 ", textOf(total.rows[d.now], true) + "  ": "a:5  "} {
		if got != want {
			t.Errorf("after the gap: %q, want %q", got, want)
		}
	}
}

// A process that goes on is told of the gaps.
func TestGaps_over_a_recovery(t *testing.T) {
	rows := []string{"aab", "b", "none", "none", "c", "none", "none", "a", "d"}
	p := program{rows: rows, build: func(_ *driver, s *counts) []layout {
		return []layout{collect(keepIt(runningSum(s))), collect(keepIt(dstream.ReduceByKeyAndWindow(s, add, subtract, seconds(4), 0)))}
	}}
	dir := t.TempDir()
	whole := p.launch(t, t.TempDir())
	first, second := p.launch(t, dir), p.launch(t, dir)
	for _, q := range []*process{whole, first} {
		q.start()
		q.steps(2)
		q.skipTo(5)
		q.steps(1)
		if q == whole {
			q.skipTo(8)
			q.steps(2)
		}
	}
	files := first.graph.Checkpoint()
	times := []dstream.Time{sec(1), sec(2), sec(5)}
	for _, at := range times {
		record, _ := second.in.Record(at)
		_ = second.in.Replay(at, record)
	}
	second.in.last = sec(5)
	if err := second.graph.Recover(dstream.Recovery{Last: sec(5), Times: times, Whole: true, Streams: files,
		Gaps: []dstream.Gap{{After: sec(2), Before: sec(5)}}}); err != nil {
		t.Fatal(err)
	}
	second.now = sec(5)
	second.skipTo(8)
	second.steps(2)
	for _, k := range []int{8, 9} {
		for i := range whole.outs {
			if got, want := second.outs[i].at(sec(k)), whole.outs[i].at(sec(k)); got != want {
				t.Errorf("batch %d, output %d: %s, want %s", k, i, got, want)
			}
		}
	}
}

// holding is an input that can be held back.
type holding struct{ held []dstream.Time }

func (h *holding) RDD(c *rdd.Context, _ dstream.Time) (*rdd.RDD[rdd.Pair[string, int]], error) {
	return rdd.Empty[rdd.Pair[string, int]](c), nil
}
func (h *holding) Hold(t dstream.Time) { h.held = append(h.held, t) }

func TestCoalescible_names_what_is_not(t *testing.T) {
	nothing := func(context.Context, *rdd.RDD[rdd.Pair[string, int]], dstream.Time) error { return nil }
	type in = *dstream.DStream[rdd.Pair[string, int]]
	for name, test := range map[string]struct {
		build        func(d *driver, held in) in
		missed, show error
		reach        time.Duration
	}{
		"records":          {func(_ *driver, s in) in { return s }, nil, nil, 0},
		"an input by time": {func(d *driver, s in) in { return dstream.Union(s, input(d, pairs("a:1"))) }, dstream.ErrInputByTime, dstream.ErrInputByTime, 0},
		"a window": {func(_ *driver, s in) in { return dstream.ReduceByKeyAndWindow(s, add, nil, seconds(4), 0) },
			nil, dstream.ErrSlidesEveryBatch, 4 * time.Second},
		"a window that slides": {func(_ *driver, s in) in {
			return dstream.ReduceByKeyAndWindow(dstream.Window(s, seconds(6), seconds(2)), add, nil, seconds(4), seconds(4))
		}, nil, nil, 10 * time.Second},
		"a state":            {func(_ *driver, s in) in { return runningSum(s) }, nil, nil, 0},
		"a window of states": {func(_ *driver, s in) in { return dstream.Window(runningSum(s), seconds(4), seconds(2)) }, dstream.ErrWindowOfStates, dstream.ErrWindowOfStates, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, setup{parallelism: 1})
			held := &holding{}
			dstream.ForeachRDD(test.build(d, dstream.NewInput(d.graph, "held", "Held stream", held)), nothing)
			for shown, want := range map[bool]error{false: test.missed, true: test.show} {
				err := d.graph.Coalescible(shown)
				if !errors.Is(err, want) {
					t.Errorf("shown %t: %v, want %v", shown, err, want)
				}
				if c, ok := errors.AsType[*dstream.CoalesceError](err); ok && (c.Op == "" || !strings.Contains(c.Site, "_test.go")) {
					t.Errorf("the error names no place: %v", err)
				}
			}
			if got := d.graph.Reach(); got != test.reach {
				t.Errorf("a record is in a window for %v, want %v", got, test.reach)
			}
			if err := d.graph.Hold(sec(1)); err != nil || fmt.Sprint(held.held) != fmt.Sprint([]dstream.Time{sec(1)}) {
				t.Errorf("held %v, %v", held.held, err)
			}
		})
	}
}

package dstream_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

// A nil inverse is none, also in a variable of its type; a window without one needs no checkpoint directory.
func TestWindowWithoutInverse(t *testing.T) {
	for _, id := range []string{"I-01", "I-02"} {
		t.Run(id, func(t *testing.T) {
			d := newDriver(t, setup{parallelism: 2, noDir: id == "I-02"})
			var inverse func(a, b int) int
			out := collect(dstream.ReduceByKeyAndWindow(input(d, words("a", "b", "a", "c", "-", "-", "-")...), add, inverse, seconds(3), seconds(1)))
			d.run(7)
			equal(t, out.text(7), "a:1; a:1 b:1; a:2 b:1; a:1 b:1 c:1; a:1 c:1; c:1; -")
		})
	}
}

// everNew gives every batch a key that was never seen.
type everNew struct{}

func (everNew) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[rdd.Pair[int, int]], error) {
	return rdd.FromBlocks(c, [][]rdd.Pair[int, int]{{{Key: int(t), Value: 1}}}), nil
}

// With a filter, keys that have left the window are forgotten: the filter is asked about no others.
// Shows I-04.
func TestKeysLeaveAnInverseWindow_I04(t *testing.T) {
	const batches = 10_000
	d := newDriver(t, setup{parallelism: 1})
	var asked atomic.Int64
	counts := dstream.ReduceByKeyAndWindow(dstream.NewInput(d.graph, "new", "New keys", everNew{}), add, subtract, seconds(5), 0,
		dstream.KeepWindowed(func(p rdd.Pair[int, int]) bool {
			asked.Add(1)
			return p.Value > 0
		}))
	most, mostAsked := int64(0), int64(0)
	dstream.ForeachRDD(counts, func(ctx ctx, r *rdd.RDD[rdd.Pair[int, int]], _ dstream.Time) error {
		asked.Store(0)
		n, err := r.Count(ctx)
		most, mostAsked = max(most, n), max(mostAsked, asked.Load())
		return err
	})
	d.run(batches)
	if most != 5 || mostAsked != 5 {
		t.Errorf("%d keys in the result and %d in the state, want 5", most, mostAsked)
	}
}

// What an inverse window holds on to does not grow, and no batch is computed twice.
// Shows I-05.
func TestLineageOfAnInverseWindowIsCut_I05(t *testing.T) {
	const batches = 1000
	d := newDriver(t, setup{parallelism: 1})
	var computed atomic.Int64
	in := dstream.Map(dstream.NewInput(d.graph, "new", "New keys", everNew{}), func(p rdd.Pair[int, int]) rdd.Pair[int, int] {
		computed.Add(1)
		return rdd.Pair[int, int]{Key: p.Key % 7, Value: 1}
	})
	sums := dstream.ReduceByKeyAndWindow(in, add, subtract, seconds(10), 0)
	if err := sums.Checkpoint(seconds(5)); err != nil {
		t.Fatal(err)
	}
	nodes := 0
	dstream.ForeachRDD(sums, func(ctx ctx, r *rdd.RDD[rdd.Pair[int, int]], _ dstream.Time) error {
		n := 0
		lineage.Walk(r.Node(), func(lineage.Node) bool { n++; return true })
		nodes = max(nodes, n)
		_, err := r.Count(ctx)
		return err
	})
	d.start()
	var most [2][2]int // nodes and kept partitions of the first tenth and of the rest
	for k := range batches {
		nodes = 0
		d.steps(1)
		_, kept := d.cluster.Blocks()
		part := min(k*10/batches, 1)
		most[part] = [2]int{max(most[part][0], nodes), max(most[part][1], kept)}
	}
	if most[1][0] > most[0][0] || most[1][1] > most[0][1] || most[0][0] == 0 || most[0][1] == 0 {
		t.Errorf("nodes and kept partitions: %v in the first tenth, %v later", most[0], most[1])
	}
	if n := computed.Load(); n != batches {
		t.Errorf("%d records were computed, want %d", n, batches)
	}
}

// How far a window of floats drifts with an inverse, and that it does not without.
// Shows I-06.
func TestDriftOfFloats_I06(t *testing.T) {
	batches := [][]float64{{1e16}, {1}, {1}, {}, {}}
	for _, c := range []struct {
		name    string
		inverse func(a, b float64) float64
		want    string
	}{
		{"subtracted", func(a, b float64) float64 { return a - b }, "1e+16 1e+16 1 0 -1"},
		{"summed_afresh", nil, "1e+16 1e+16 2 1 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDriver(t, setup{parallelism: 1})
			out := collect(dstream.ReduceByWindow(input(d, batches...), func(a, b float64) float64 { return a + b }, c.inverse, seconds(2), 0))
			d.run(len(batches))
			var got []string
			for k := range batches {
				got = append(got, strings.Trim(fmt.Sprint(out.rows[sec(k+1)]), "[]"))
			}
			equal(t, strings.Join(got, " "), c.want)
		})
	}
}

// tallied is a stream of pairs whose values the functions change in place.
func tallied(d *driver, batches ...string) *dstream.DStream[rdd.Pair[string, *tally]] {
	return dstream.Map(input(d, words(batches...)...), func(p rdd.Pair[string, int]) rdd.Pair[string, *tally] {
		return rdd.Pair[string, *tally]{Key: p.Key, Value: &tally{N: 1}}
	})
}

// What the batches of a window hold is read when they enter and again when they leave, however many do at once: functions that
// change what they are given, or return their second argument, change nothing of it.
func TestInverseWindowOfValuesThatAreChangedInPlace(t *testing.T) {
	for slide, want := range map[int]string{
		1: "a:1; a:1 b:1; a:2 b:1; a:1 b:2; a:1 b:1; b:1",
		2: "none; a:1 b:1; none; a:1 b:2; none; b:1",
	} {
		for _, isolate := range []bool{false, true} {
			t.Run(fmt.Sprintf("slide=%d/isolate=%t", slide, isolate), func(t *testing.T) {
				d := newDriver(t, setup{parallelism: 2, isolate: isolate})
				window := dstream.ReduceByKeyAndWindow(tallied(d, "a", "b", "a", "b", "-", "-"), func(a, b *tally) *tally {
					b.N += a.N
					a.N = -100
					return b
				}, func(a, b *tally) *tally {
					a.N -= b.N
					b.N = -100
					return a
				}, seconds(3), seconds(slide), dstream.KeepWindowed(func(p rdd.Pair[string, *tally]) bool { return p.Value.N != 0 }))
				out := collect(dstream.Map(window, func(p rdd.Pair[string, *tally]) letter {
					n := p.Value.N
					p.Value.N = 7 // the stream's consumers change what they get
					return letter{Key: p.Key, Value: n}
				}))
				d.run(6)
				equal(t, out.text(6), want)
			})
		}
	}
}

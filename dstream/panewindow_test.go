package dstream_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/keyed"
)

// Windows without inverse combine what is older with what is newer, in this order, and each batch once: the function may be
// one that is associative and nothing else.
func TestWindowsWithoutInverseCombineInTheOrderOfTime(t *testing.T) {
	// Keys that are short, long, and such that their hashes agree: the first word makes one factor of a hash zero.
	agreeing := string(binary.LittleEndian.AppendUint64(nil, 0xa0761d6478bd642f))
	keys := []string{"a", "b", strings.Repeat("long ", 10), strings.Repeat("longer ", 20), agreeing, agreeing + "x", agreeing + "y", ""}
	rapid.Check(t, func(rt *rapid.T) {
		window := rapid.IntRange(1, 12).Draw(rt, "window")
		slide := rapid.IntRange(1, 8).Draw(rt, "slide")
		n := 3*window + 2*slide
		batches := make([][]rdd.Pair[string, string], n)
		for i := range batches {
			if rapid.IntRange(0, 5).Draw(rt, "kind") == 0 {
				continue
			}
			batches[i] = []rdd.Pair[string, string]{}
			for _, key := range keys {
				if rapid.Bool().Draw(rt, "has key") {
					batches[i] = append(batches[i], rdd.Pair[string, string]{Key: key, Value: fmt.Sprint(i+1, " ")})
				}
			}
		}
		d := newDriver(t, setup{parallelism: rapid.IntRange(1, 3).Draw(rt, "parts"), isolate: rapid.Bool().Draw(rt, "isolate")})
		out := collect(dstream.ReduceByKeyAndWindow(input(d, batches...), func(a, b string) string { return a + b }, nil, seconds(window), seconds(slide)))
		d.start()
		for k := 1; k <= n; k++ {
			if err := d.step(); err != nil {
				rt.Fatalf("batch %d: %v", k, err)
			}
			if k%slide != 0 {
				continue
			}
			want := map[string]string{}
			for i := max(1, k-window+1); i <= k; i++ {
				for _, p := range batches[i-1] {
					want[p.Key] += p.Value
				}
			}
			rows := out.rows[sec(k)]
			if len(rows) != len(want) {
				rt.Fatalf("batch %d: %d keys, want %d", k, len(rows), len(want))
			}
			for _, r := range rows {
				if r.Value != want[r.Key] {
					rt.Fatalf("batch %d: %q has %q, want %q", k, r.Key, r.Value, want[r.Key])
				}
			}
		}
	})
}

func TestWindowsWithoutInverseOfOtherKeys(t *testing.T) {
	type place struct {
		Name string
		At   [2]int
	}
	eachSetup(t, func(t *testing.T, d *driver) {
		var in [][]rdd.Pair[place, int]
		for k := range 9 {
			in = append(in, []rdd.Pair[place, int]{{Key: place{"here", [2]int{1, k % 2}}, Value: k}, {Key: place{"there", [2]int{}}, Value: -k}})
		}
		out := collect(dstream.ReduceByKeyAndWindow(input(d, in...), largest, nil, seconds(3), 0))
		d.run(9)
		for k := 3; k <= 9; k++ {
			want := map[place]int{{"here", [2]int{1, (k - 1) % 2}}: k - 1, {"here", [2]int{1, k % 2}}: k - 2, {"there", [2]int{}}: 3 - k}
			if len(out.rows[sec(k)]) != len(want) {
				t.Errorf("batch %d: got %v, want %v", k, out.rows[sec(k)], want)
			}
			for _, r := range out.rows[sec(k)] {
				if v, ok := want[r.Key]; !ok || v != r.Value {
					t.Errorf("batch %d: got %v, want %v", k, r, want)
				}
			}
		}
	})
}

// The same rows come in the same order from whoever computes them.
func TestRowsOfWindowsWithoutInverseAreInOneOrder(t *testing.T) {
	run := func(setup setup) (batches [][]rdd.Pair[int, int]) {
		d := newDriver(t, setup)
		in := make([][]rdd.Pair[int, int], 12)
		for k := range in {
			for i := range 50 {
				in[k] = append(in[k], rdd.Pair[int, int]{Key: (i*31 + k*7) % 90, Value: i})
			}
		}
		out := collect(dstream.ReduceByKeyAndWindow(input(d, in...), largest, nil, seconds(5), 0))
		d.run(12)
		for k := 1; k <= 12; k++ {
			batches = append(batches, out.rows[sec(k)])
		}
		return batches
	}
	want := fmt.Sprint(run(setup{parallelism: 3}))
	for _, s := range []setup{{parallelism: 3}, {parallelism: 3, isolate: true}, {parallelism: 3, executors: 3, isolate: true}} {
		if got := fmt.Sprint(run(s)); got != want {
			t.Errorf("isolate %t, %d executors: got %s, want %s", s.isolate, s.executors, got, want)
		}
	}
}

func TestPanicOfAWindowsFunctionNamesItsCall(t *testing.T) {
	d := newDriver(t, setup{parallelism: 1})
	in := [][]rdd.Pair[string, int]{pairs("a:1"), pairs("b:1"), pairs("a:2")}
	s := dstream.ReduceByKeyAndWindow(input(d, in...), func(a, b int) int { panic("together") }, nil, seconds(3), 0)
	collect(s)
	d.start()
	var err error
	for range 3 {
		if err != nil {
			t.Fatalf("fails before a key is there twice: %v", err)
		}
		err = d.step()
	}
	var user *rdd.UserError
	if !errors.As(err, &user) || !strings.Contains(err.Error(), "panewindow_test.go") || !strings.Contains(err.Error(), "together") {
		t.Errorf("got %v, want a UserError of this file", err)
	}
}

func TestWindowOfKeysWithoutIdentityIsRefusedAtStart(t *testing.T) {
	for name, inverse := range map[string]func(int, int) int{"panes": nil, "inverse": subtract} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, setup{parallelism: 1})
			collect(dstream.ReduceByKeyAndWindow(input(d, []rdd.Pair[*int, int]{}), add, inverse, seconds(3), 0))
			if err := d.graph.Start(0); !errors.Is(err, keyed.ErrBadKeyType) {
				t.Errorf("got %v, want %v", err, keyed.ErrBadKeyType)
			}
		})
	}
}

package dstream_test

import (
	"context"
	"slices"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

type ctx = context.Context

// xyz is input P of the window cases.
func xyz() [][]rdd.Pair[string, int] { return words("xx", "xy", "y", "z", "-", "-") }

// ascending is a:1; a:2; ...; a:n, then empty.
func ascending(n int) [][]rdd.Pair[string, int] {
	var out [][]rdd.Pair[string, int]
	for k := range n {
		out = append(out, []rdd.Pair[string, int]{{Key: "a", Value: k + 1}})
	}
	return out
}

func TestReduceByKeyAndWindow(t *testing.T) {
	notZero := dstream.KeepWindowed(func(p rdd.Pair[string, int]) bool { return p.Value != 0 })
	for _, c := range []struct {
		name          string
		in            [][]rdd.Pair[string, int]
		inverse       func(int, int) int
		opts          []dstream.WindowOption
		window, slide int
		want          string
	}{
		{"W7_no_inverse", xyz(), nil, nil, 3, 1, "x:2; x:3 y:1; x:3 y:2; x:1 y:2 z:1; y:1 z:1; z:1; -; -"},
		{"W8_inverse_keeps_keys", xyz(), subtract, nil, 3, 1,
			"x:2; x:3 y:1; x:3 y:2; x:1 y:2 z:1; x:0 y:1 z:1; x:0 y:0 z:1; x:0 y:0 z:0; x:0 y:0 z:0"},
		{"W9_inverse_with_filter", xyz(), subtract, []dstream.WindowOption{notZero}, 3, 1,
			"x:2; x:3 y:1; x:3 y:2; x:1 y:2 z:1; y:1 z:1; z:1; -; -"},
		{"W10_slide_of_two", ascending(6), nil, nil, 4, 2, "none; a:3; none; a:10; none; a:18; none; a:11"},
		{"W10_slide_of_two_inverse", ascending(6), subtract, nil, 4, 2, "none; a:3; none; a:10; none; a:18; none; a:11"},
		{"W11_window_no_multiple_of_slide", ascending(9), subtract, nil, 5, 3,
			"none; none; a:6; none; none; a:20; none; none; a:35; none; none; a:17"},
		{"W11_no_inverse", ascending(9), nil, nil, 5, 3,
			"none; none; a:6; none; none; a:20; none; none; a:35; none; none; a:17"},
		{"W19_tumbling_inverse", ascending(4), subtract, nil, 2, 2, "none; a:3; none; a:7; none; a:0"},
		{"W19_tumbling", ascending(4), nil, nil, 2, 2, "none; a:3; none; a:7; none; -"},
		{"D1_gaps_inverse", ascending(9), subtract, nil, 2, 3,
			"none; none; a:5; none; none; a:11; none; none; a:17; none; none; a:0"},
		{"D1_gaps", ascending(9), nil, nil, 2, 3, "none; none; a:5; none; none; a:11; none; none; a:17; none; none; -"},
		{"D1_wide_panes_with_gaps", ascending(9), nil, nil, 2, 4, "none; none; none; a:7; none; none; none; a:15"},
		{"wide_panes", ascending(12), nil, nil, 6, 4,
			"none; none; none; a:10; none; none; none; a:33; none; none; none; a:57"},
		{"D2_filtered_keys_are_still_counted",
			[][]rdd.Pair[string, int]{pairs("a:1"), pairs("a:-1"), pairs("-"), pairs("a:4"), pairs("-"), pairs("-"), pairs("a:7")},
			subtract, []dstream.WindowOption{notZero}, 3, 1, "a:1; -; -; a:3; a:4; a:4; a:7"},
		{"inverse_over_absent_batches", [][]rdd.Pair[string, int]{nil, nil, pairs("a:1"), nil, nil, pairs("a:2")},
			subtract, nil, 2, 1, "-; -; a:1; a:1; a:0; a:2"},
		{"no_inverse_over_absent_batches", [][]rdd.Pair[string, int]{nil, nil, pairs("a:1"), nil, nil, pairs("a:2")},
			nil, nil, 2, 1, "-; -; a:1; a:1; -; a:2"},
		{"no_inverse_with_filter", xyz(), nil, []dstream.WindowOption{dstream.KeepWindowed(
			func(p rdd.Pair[string, int]) bool { return p.Key != "y" })}, 3, 1, "x:2; x:3; x:3; x:1 z:1; z:1; z:1; -; -"},
		{"one_batch", ascending(3), nil, nil, 1, 1, "a:1; a:2; a:3; -"},
		{"own_partitions", xyz(), subtract, []dstream.WindowOption{dstream.Partitioned(rdd.NumPartitions(3)), notZero}, 3, 1,
			"x:2; x:3 y:1; x:3 y:2; x:1 y:2 z:1; y:1 z:1; z:1; -; -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSetup(t, func(t *testing.T, d *driver) {
				out := collect(dstream.ReduceByKeyAndWindow(input(d, c.in...), add, c.inverse, seconds(c.window), seconds(c.slide), c.opts...))
				n := batchesIn(c.want)
				d.run(n)
				equal(t, out.text(n), c.want)
			})
		})
	}
}

func batchesIn(text string) int {
	n := 1
	for _, r := range text {
		if r == ';' {
			n++
		}
	}
	return n
}

func TestReduceByWindow(t *testing.T) {
	in := [][]int{{1, 2}, {}, {3}, {}, {}}
	for name, c := range map[string]struct {
		inverse func(int, int) int
		want    string
	}{
		"W15_no_inverse": {nil, "3; 3; 3; 3; -"},
		"inverse":        {subtract, "3; 3; 3; 3; 0"},
	} {
		t.Run(name, func(t *testing.T) {
			eachSetup(t, func(t *testing.T, d *driver) {
				s := dstream.ReduceByWindow(input(d, in...), add, c.inverse, seconds(2), 0)
				out := collect(s)
				d.run(5)
				equal(t, out.text(5), c.want)
				if n := len(out.parts[1000]); n != 1 {
					t.Errorf("%d partitions, want 1", n)
				}
			})
		})
	}
}

func TestCountByWindow_W13(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		out := collect(dstream.CountByWindow(input(d, []int{1, 1}, []int{}, []int{3}, []int{}, []int{}, []int{4, 4, 4}, []int{}), seconds(2), 0))
		d.run(7)
		equal(t, out.text(7), "2; 2; 1; 1; 0; 3; 3")
	})
}

func TestCountByWindowHasNothingBeforeTheFirstRecord(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		out := collect(dstream.CountByWindow(input(d, []int{}, []int{7}, []int{}, []int{}), seconds(2), 0))
		d.run(4)
		equal(t, out.text(4), "-; 1; 1; 0")
	})
}

func TestCountByValueAndWindow_W14(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		out := collect(dstream.CountByValueAndWindow(
			input(d, []string{"p"}, []string{"q", "q"}, []string{"p", "q"}, []string{}, []string{}), seconds(2), 0))
		d.run(5)
		equal(t, out.text(5), "p:1; p:1 q:2; p:1 q:3; p:1 q:1; -")
	})
}

func TestGroupByKeyAndWindow_W16(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		s := dstream.GroupByKeyAndWindow(input(d, pairs("a:1"), pairs("a:2 b:3"), pairs("b:4"), pairs("-")), seconds(2), 0)
		type row = rdd.Pair[string, []int]
		second := map[dstream.Time]string{}
		dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[row], at dstream.Time) error {
			for range 2 {
				rows, err := r.Collect(ctx)
				if err != nil {
					return err
				}
				for i := range rows {
					slices.Reverse(rows[i].Value)
					rows[i].Value = append(rows[i].Value, 99)[:len(rows[i].Value)]
				}
				second[at] = textOf(rows, true)
			}
			return nil
		})
		out := collect(s)
		d.run(4)
		want := "a:{1}; a:{1,2} b:{3}; a:{2} b:{3,4}; b:{4}"
		equal(t, out.text(4), want)
		equal(t, (&results[row]{}).joined(second, 4), want)
	})
}

// joined is text of batches that have been made into text before.
func (*results[T]) joined(batches map[dstream.Time]string, n int) string {
	out := ""
	for k := 1; k <= n; k++ {
		if k > 1 {
			out += "; "
		}
		out += batches[sec(k)]
	}
	return out
}

// Functions may change their first argument: what is kept must not change with it.
func TestWindowsOfValuesThatTheFunctionsChange(t *testing.T) {
	type row = rdd.Pair[string, []int]
	merge := func(sign int) func(a, b []int) []int {
		return func(a, b []int) []int {
			for i := range a {
				a[i] += sign * b[i]
			}
			return a
		}
	}
	for name, inverse := range map[string]func(a, b []int) []int{"panes": nil, "inverse": merge(-1)} {
		t.Run(name, func(t *testing.T) {
			eachSetup(t, func(t *testing.T, d *driver) {
				var in [][]row
				for k := range 12 {
					in = append(in, []row{{Key: "a", Value: []int{k + 1, 1}}, {Key: "a", Value: []int{0, 0}}})
				}
				s := dstream.ReduceByKeyAndWindow(input(d, in...), merge(1), inverse, seconds(3), 0)
				out := collect(dstream.Map(s, func(p row) row { p.Value[0] *= 1000; return p }))
				again := collect(s)
				d.run(12)
				for k := 3; k <= 12; k++ {
					sum := 3*k - 3
					if got := again.rows[sec(k)]; got[0].Value[0] != sum || got[0].Value[1] != 3 {
						t.Errorf("batch %d: got %v, want sum %d of 3", k, got, sum)
					}
					if got := out.rows[sec(k)]; got[0].Value[0] != 1000*sum {
						t.Errorf("batch %d, mapped: got %v", k, got)
					}
				}
			})
		})
	}
}

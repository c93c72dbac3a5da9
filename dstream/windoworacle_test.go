package dstream_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// reduceFromScratch is the oracle of windows: the batches of (t-window, t] combined with reduce, key
// by key, in text.
func reduceFromScratch(batches [][]rdd.Pair[string, int], reduce func(int, int) int, k, window int, keep func(rdd.Pair[string, int]) bool) string {
	table := map[string]int{}
	for i := max(1, k-window+1); i <= min(k, len(batches)); i++ {
		for _, p := range batches[i-1] {
			if v, ok := table[p.Key]; ok {
				table[p.Key] = reduce(v, p.Value)
			} else {
				table[p.Key] = p.Value
			}
		}
	}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if p := (rdd.Pair[string, int]{Key: key, Value: table[key]}); keep(p) {
			words = append(words, show(p))
		}
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

// drawBatches draws batches of which some are absent and some empty.
func drawBatches(t *rapid.T, n int) [][]rdd.Pair[string, int] {
	batches := make([][]rdd.Pair[string, int], n)
	for i := range batches {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
		case 1:
			batches[i] = pairs("")
		default:
			batches[i] = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rdd.Pair[string, int] {
				return rdd.Pair[string, int]{Key: rapid.StringMatching("[a-d]").Draw(t, "key"), Value: rapid.IntRange(-3, 7).Draw(t, "value")}
			}), 1, 5).Draw(t, "pairs")
		}
	}
	return batches
}

// TestWindowOracle compares windows with recomputing each from its batches.
func TestWindowOracle(t *testing.T) {
	everything := func(rdd.Pair[string, int]) bool { return true }
	notZero := func(p rdd.Pair[string, int]) bool { return p.Value != 0 }
	for _, c := range []struct {
		name            string
		reduce, inverse func(int, int) int
		keep            func(rdd.Pair[string, int]) bool
	}{
		{"max", largest, nil, everything},
		{"min", func(a, b int) int { return min(a, b) }, nil, everything},
		{"or", func(a, b int) int { return a | b }, nil, everything},
		{"sum", add, nil, everything},
		{"sum_with_inverse_and_filter", add, subtract, notZero},
		{"sum_with_inverse_and_filter_of_all", add, subtract, everything},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				window := rapid.IntRange(1, 12).Draw(rt, "window")
				slide := rapid.IntRange(1, 14).Draw(rt, "slide")
				n := 3*window + 3*slide
				batches := drawBatches(rt, n)
				d := newDriver(t, setup{parallelism: rapid.IntRange(1, 3).Draw(rt, "parts")})
				var opts []dstream.WindowOption
				if c.inverse != nil {
					opts = append(opts, dstream.KeepWindowed(c.keep))
				}
				s := dstream.ReduceByKeyAndWindow(input(d, batches...), c.reduce, c.inverse, seconds(window), seconds(slide), opts...)
				if c.inverse != nil {
					if err := s.Checkpoint(seconds(slide * rapid.IntRange(1, 16).Draw(rt, "checkpoint"))); err != nil {
						rt.Fatal(err)
					}
				}
				out := collect(s)
				d.start()
				for k := 1; k <= n+window+slide; k++ {
					if err := d.step(); err != nil {
						rt.Fatalf("batch %d: %v", k, err)
					}
					want := "none"
					if k%slide == 0 {
						want = reduceFromScratch(batches, c.reduce, k, window, c.keep)
					}
					rows, ok := out.rows[sec(k)]
					if got := textOf(rows, ok); got != want {
						rt.Fatalf("batch %d: got %s, want %s", k, got, want)
					}
				}
			})
		})
	}
}

// Without a filter, an inverse window shows what the oracle does, and zeros for keys that have left.
func TestWindowOracleWithoutFilter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		window, slide := rapid.IntRange(1, 9).Draw(rt, "window"), rapid.IntRange(1, 11).Draw(rt, "slide")
		n := 3 * (window + slide)
		batches := drawBatches(rt, n)
		d := newDriver(t, setup{parallelism: 2})
		out := collect(dstream.ReduceByKeyAndWindow(input(d, batches...), add, subtract, seconds(window), seconds(slide)))
		d.start()
		seen := map[string]bool{}
		for k := 1; k <= n; k++ {
			if err := d.step(); err != nil {
				rt.Fatal(err)
			}
			if k%slide != 0 {
				continue
			}
			for i := max(1, k-window+1); i <= k; i++ {
				for _, p := range batches[i-1] {
					seen[p.Key] = true
				}
			}
			all := slices.Clone(batches)
			zeros := []rdd.Pair[string, int]{}
			for _, key := range slices.Sorted(maps.Keys(seen)) {
				zeros = append(zeros, rdd.Pair[string, int]{Key: key})
			}
			all[k-1] = slices.Concat(batches[k-1], zeros)
			want := reduceFromScratch(all, add, k, window, func(rdd.Pair[string, int]) bool { return true })
			if got := textOf(out.rows[sec(k)], true); got != want {
				rt.Fatalf("batch %d: got %s, want %s", k, got, want)
			}
		}
	})
}

func TestWindowsKeepABoundedNumberOfPartitions(t *testing.T) {
	for name, inverse := range map[string]func(int, int) int{"panes": nil, "inverse": subtract} {
		t.Run(name, func(t *testing.T) {
			const window = 16
			d := newDriver(t, setup{parallelism: 2})
			in := make([][]rdd.Pair[string, int], 8*window)
			for i := range in {
				in[i] = letters(fmt.Sprintf("%c%c", 'a'+i%7, 'a'+i%5))
			}
			collect(dstream.ReduceByKeyAndWindow(input(d, in...), largest, inverse, seconds(window), 0))
			d.start()
			var most [8]int
			for w := range most {
				for range window {
					d.steps(1)
					settle(d)
					_, persisted := d.cluster.Blocks()
					most[w] = max(most[w], persisted)
				}
			}
			// The batches of the window, and what is kept for twice as many panes, in 2 partitions each.
			if limit := 2 * 5 * window; most[7] > limit || most[7] > most[4] {
				t.Errorf("partitions kept in each window: %v, want no more than %d and no growth", most, limit)
			}
		})
	}
}

package peer_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// pairBatches returns the ten batches of size M.
func pairBatches(tb testing.TB, o workload.PairsOptions) [][]workload.Pair {
	tb.Helper()
	pairs, err := workload.NewPairs(workload.DefaultSeed, o)
	if err != nil {
		tb.Fatal(err)
	}
	batches := make([][]workload.Pair, workload.M.Records()/workload.PairsPerSecond)
	for i := range batches {
		from := i * workload.PairsPerSecond
		if batches[i], err = pairs.Append(nil, from, from+workload.PairsPerSecond); err != nil {
			tb.Fatal(err)
		}
	}
	return batches
}

// summarize returns the answer of a window from its sums and its largest values.
func summarize(first, last int, sums, largest map[int64]int64) workload.PairsWindowAnswer {
	a := workload.PairsWindowAnswer{
		First: first, Last: last, Keys: len(sums),
		Key0Sum: sums[0], Key0Max: largest[0],
	}
	for _, v := range sums {
		a.Sum += v
	}
	for _, v := range largest {
		a.Max += v
	}
	return a
}

// mapOf returns the cells that have records.
func mapOf(cells []peer.Cell) map[int64]int64 {
	m := make(map[int64]int64)
	for k, c := range cells {
		if c.Records > 0 {
			m[int64(k)] = c.Value
		}
	}
	return m
}

func TestWindow(t *testing.T) {
	const keys = 10_000
	batches := pairBatches(t, workload.PairsOptions{Keys: keys})
	want := workload.PairsWindowWant()
	window := batches[want.First : want.Last+1]

	t.Run("maps", func(t *testing.T) {
		got := summarize(want.First, want.Last, peer.SumMap(window), peer.MaxMap(window))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer differs (-want +got):\n%s", diff)
		}
	})
	t.Run("dense", func(t *testing.T) {
		got := summarize(want.First, want.Last, mapOf(peer.SumDense(window, keys)), mapOf(peer.MaxDense(window, keys)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer differs (-want +got):\n%s", diff)
		}
	})
	t.Run("sums that slide equal sums recomputed at every slide", func(t *testing.T) {
		const length = 3
		sliding := peer.NewSums(keys)
		for b := range batches {
			sliding.Add(batches[b])
			if b >= length {
				sliding.Remove(batches[b-length])
			}
			first, last, _ := workload.Window(b, length, 1)
			want := peer.SumDense(batches[first:last+1], keys)
			if diff := cmp.Diff(want, sliding.Cells()); diff != "" {
				t.Fatalf("batch %d differs (-recomputed +sliding):\n%s", b, diff)
			}
		}
	})
}

func TestWindowEdges(t *testing.T) {
	t.Run("negative values have a maximum", func(t *testing.T) {
		batch := [][]workload.Pair{{{Key: 1, Value: -5}, {Key: 1, Value: -3}, {Key: 1, Value: -9}}}
		want := map[int64]int64{1: -3}
		if diff := cmp.Diff(want, peer.MaxMap(batch)); diff != "" {
			t.Errorf("maps differ (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, mapOf(peer.MaxDense(batch, 2))); diff != "" {
			t.Errorf("dense differs (-want +got):\n%s", diff)
		}
	})
	t.Run("a key that left the window is not in it", func(t *testing.T) {
		s := peer.NewSums(3)
		batch := []workload.Pair{{Key: 2, Value: 0}}
		s.Add(batch)
		if got := mapOf(s.Cells()); len(got) != 1 {
			t.Errorf("after it came: got %v, want key 2", got)
		}
		s.Remove(batch)
		if got := mapOf(s.Cells()); len(got) != 0 {
			t.Errorf("after it left: got %v, want no key", got)
		}
	})
	t.Run("all pairs of size M, skewed", func(t *testing.T) {
		o := workload.PairsOptions{Keys: 1_000_000, Zipf: true}
		want, _ := workload.PairsWant(o)
		batches := pairBatches(t, o)
		for name, sums := range map[string]map[int64]int64{
			"maps": peer.SumMap(batches), "dense": mapOf(peer.SumDense(batches, o.Keys)),
		} {
			got := workload.PairsAnswer{Distinct: len(sums), Key0: sums[0]}
			for _, v := range sums {
				got.Sum += v
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: answer differs (-want +got):\n%s", name, diff)
			}
		}
	})
}

func BenchmarkWindow(b *testing.B) {
	const keys = 10_000
	batches := pairBatches(b, workload.PairsOptions{Keys: keys})
	want := workload.PairsWindowWant()
	window := batches[want.First : want.Last+1]
	records := len(window) * workload.PairsPerSecond
	b.Run("sum/maps", func(b *testing.B) {
		b.ReportAllocs()
		var sums map[int64]int64
		for b.Loop() {
			sums = peer.SumMap(window)
		}
		perRecord(b, records)
		if sums[0] != want.Key0Sum {
			b.Fatalf("got %d for key 0, want %d", sums[0], want.Key0Sum)
		}
	})
	b.Run("sum/dense", func(b *testing.B) {
		b.ReportAllocs()
		var cells []peer.Cell
		for b.Loop() {
			cells = peer.SumDense(window, keys)
		}
		perRecord(b, records)
		if cells[0].Value != want.Key0Sum {
			b.Fatalf("got %d for key 0, want %d", cells[0].Value, want.Key0Sum)
		}
	})
	b.Run("max/maps", func(b *testing.B) {
		b.ReportAllocs()
		var largest map[int64]int64
		for b.Loop() {
			largest = peer.MaxMap(window)
		}
		perRecord(b, records)
		if largest[0] != want.Key0Max {
			b.Fatalf("got %d for key 0, want %d", largest[0], want.Key0Max)
		}
	})
	b.Run("max/dense", func(b *testing.B) {
		b.ReportAllocs()
		var cells []peer.Cell
		for b.Loop() {
			cells = peer.MaxDense(window, keys)
		}
		perRecord(b, records)
		if cells[0].Value != want.Key0Max {
			b.Fatalf("got %d for key 0, want %d", cells[0].Value, want.Key0Max)
		}
	})
}

func ExampleSumMap() {
	fmt.Println(peer.SumMap([][]workload.Pair{{{Key: 1, Value: 5}, {Key: 2, Value: 6}}, {{Key: 1, Value: 7}}}))
	// Output:
	// map[1:12 2:6]
}

func ExampleMaxMap() {
	fmt.Println(peer.MaxMap([][]workload.Pair{{{Key: 1, Value: 5}, {Key: 2, Value: 6}}, {{Key: 1, Value: 7}}}))
	// Output:
	// map[1:7 2:6]
}

func ExampleSumDense() {
	fmt.Println(peer.SumDense([][]workload.Pair{{{Key: 1, Value: 5}}, {{Key: 1, Value: 7}}}, 2))
	// Output:
	// [{0 0} {12 2}]
}

func ExampleMaxDense() {
	fmt.Println(peer.MaxDense([][]workload.Pair{{{Key: 1, Value: 5}}, {{Key: 1, Value: 7}}}, 2))
	// Output:
	// [{0 0} {7 2}]
}

func ExampleSums() {
	first, second := []workload.Pair{{Key: 0, Value: 5}}, []workload.Pair{{Key: 0, Value: 7}}
	s := peer.NewSums(1)
	s.Add(first)
	s.Add(second)
	s.Remove(first)
	fmt.Println(s.Cells())
	// Output:
	// [{7 1}]
}

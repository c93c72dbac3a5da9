package peer_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func integers(tb testing.TB, size workload.Size) []int64 {
	tb.Helper()
	xs, err := workload.NewIntegers(workload.DefaultSeed).Append(make([]int64, 0, size), 0, size.Records())
	if err != nil {
		tb.Fatal(err)
	}
	return xs
}

// chains are the programs that add up all keys.
var chains = []struct {
	name string
	run  func(xs []int64) (keySum int64, passed int)
}{
	{"fused", peer.FusedChain},
	{"chunks", func(xs []int64) (int64, int) { return peer.ChunkChain(xs, 0) }},
	{"calls", func(xs []int64) (int64, int) { return peer.CallChain(xs, 0, peer.NarrowFuncs()) }},
	{"channels", func(xs []int64) (int64, int) { return peer.ChannelChain(xs, 0) }},
}

func TestChain(t *testing.T) {
	for _, size := range []workload.Size{workload.XS, workload.S, workload.M} {
		xs := integers(t, size)
		want, ok := workload.ChainWant(size)
		if !ok {
			t.Fatalf("no answer known for %s", size)
		}
		for _, c := range chains {
			t.Run(fmt.Sprintf("%s/size=%s", c.name, size), func(t *testing.T) {
				keySum, passed := c.run(xs)
				if keySum != want.KeySum || passed != want.Passed {
					t.Errorf("got key sum %d of %d records, want %d of %d", keySum, passed, want.KeySum, want.Passed)
				}
			})
		}
		t.Run(fmt.Sprintf("dense/size=%s", size), func(t *testing.T) {
			if diff := cmp.Diff(want.Sums, workload.SummarizeChain(peer.FusedDense(xs))); diff != "" {
				t.Errorf("sums differ (-want +got):\n%s", diff)
			}
		})
		for _, reducers := range []int{0, 1, 4, 7} {
			t.Run(fmt.Sprintf("maps/reducers=%d/size=%s", reducers, size), func(t *testing.T) {
				got := workload.SummarizeChain(denseOf(t, peer.FusedMaps(xs, reducers)))
				if diff := cmp.Diff(want.Sums, got); diff != "" {
					t.Errorf("sums differ (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// denseOf merges maps, in which every key is in the map of its remainder and no other.
func denseOf(tb testing.TB, maps []map[int64]int64) []int64 {
	tb.Helper()
	sums := make([]int64, workload.ChainKeys)
	for r, m := range maps {
		for key, sum := range m {
			if key%int64(len(maps)) != int64(r) {
				tb.Fatalf("key %d is in map %d of %d", key, r, len(maps))
			}
			sums[key] = sum
		}
	}
	return sums
}

func TestChainEdges(t *testing.T) {
	xs := integers(t, workload.XS)
	want, _ := workload.ChainWant(workload.XS)
	for _, size := range []int{-1, 1, 2, 999, 1000, 1001} {
		t.Run(fmt.Sprintf("size=%d", size), func(t *testing.T) {
			for name, run := range map[string]func() (int64, int){
				"chunks":   func() (int64, int) { return peer.ChunkChain(xs, size) },
				"calls":    func() (int64, int) { return peer.CallChain(xs, size, peer.NarrowFuncs()) },
				"channels": func() (int64, int) { return peer.ChannelChain(xs, size) },
			} {
				if keySum, passed := run(); keySum != want.KeySum || passed != want.Passed {
					t.Errorf("%s: got key sum %d of %d records, want %d of %d", name, keySum, passed, want.KeySum, want.Passed)
				}
			}
		})
	}
	t.Run("no records", func(t *testing.T) {
		for _, c := range chains {
			if keySum, passed := c.run(nil); keySum != 0 || passed != 0 {
				t.Errorf("%s: got key sum %d of %d records, want 0 of 0", c.name, keySum, passed)
			}
		}
	})
}

func TestFusedIncrements(t *testing.T) {
	xs := integers(t, workload.XS)
	base := peer.FusedIncrements(xs, 0)
	for _, stages := range []int{1, 2, 4, 8, 16} {
		if got, want := peer.FusedIncrements(xs, stages)-base, int64(stages*len(xs)); got != want {
			t.Errorf("%d stages: got %d more, want %d", stages, got, want)
		}
	}
}

// perRecord reports the time of one record of records.
func perRecord(b *testing.B, records int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
}

func BenchmarkChain(b *testing.B) {
	xs := integers(b, workload.M)
	want, _ := workload.ChainWant(workload.M)
	for _, c := range chains {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if keySum, passed := c.run(xs); keySum != want.KeySum || passed != want.Passed {
					b.Fatalf("got key sum %d of %d records", keySum, passed)
				}
			}
			perRecord(b, len(xs))
		})
	}
	b.Run("dense", func(b *testing.B) {
		var sums []int64
		for b.Loop() {
			sums = peer.FusedDense(xs)
		}
		perRecord(b, len(xs))
		if got := workload.SummarizeChain(sums); got != want.Sums {
			b.Fatalf("got %+v", got)
		}
	})
	b.Run("maps", func(b *testing.B) {
		var sums []map[int64]int64
		for b.Loop() {
			sums = peer.FusedMaps(xs, 4)
		}
		perRecord(b, len(xs))
		if got := workload.SummarizeChain(denseOf(b, sums)); got != want.Sums {
			b.Fatalf("got %+v", got)
		}
	})
	for _, stages := range []int{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprintf("increments/stages=%d", stages), func(b *testing.B) {
			for b.Loop() {
				peer.FusedIncrements(xs, stages)
			}
			perRecord(b, len(xs))
		})
	}
}

func ExampleFusedChain() {
	fmt.Println(peer.FusedChain([]int64{8, 4, 1}))
	// Output:
	// 10 2
}

func ExampleFusedDense() {
	sums := peer.FusedDense([]int64{8, 4, 1})
	fmt.Println(sums[0], sums[1], sums[9])
	// Output:
	// 2 1 1
}

func ExampleFusedMaps() {
	fmt.Println(peer.FusedMaps([]int64{8, 4, 1}, 2))
	// Output:
	// [map[0:2] map[1:1 9:1]]
}

func ExampleFusedIncrements() {
	fmt.Println(peer.FusedIncrements([]int64{1, 2, 3}, 4))
	// Output:
	// 18
}

func ExampleChunkChain() {
	fmt.Println(peer.ChunkChain([]int64{8, 4, 1}, 2))
	// Output:
	// 10 2
}

func ExampleCallChain() {
	fmt.Println(peer.CallChain([]int64{8, 4, 1}, 2, peer.NarrowFuncs()))
	// Output:
	// 10 2
}

func ExampleChannelChain() {
	fmt.Println(peer.ChannelChain([]int64{8, 4, 1}, 1))
	// Output:
	// 10 2
}

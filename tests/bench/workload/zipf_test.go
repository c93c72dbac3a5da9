package workload_test

import (
	"errors"
	"fmt"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/tests/bench/workload"
)

// cumulated returns the cumulative weights straight from their definition.
func cumulated(items, exponent int) []uint64 {
	cum := make([]uint64, items)
	var total uint64
	for k := range cum {
		weight := uint64(1 << 40)
		for range exponent {
			weight /= uint64(k + 1)
		}
		total += weight
		cum[k] = total
	}
	return cum
}

func TestZipf(t *testing.T) {
	t.Run("total over 100000 items", func(t *testing.T) {
		z, err := workload.NewZipf(100_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := z.Total(), uint64(13_293_256_201_729); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	})
	t.Run("exponent 0 weighs all the same", func(t *testing.T) {
		z, err := workload.NewZipf(1000, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := z.Rank(1 << 63); got != 500 {
			t.Errorf("got rank %d, want 500", got)
		}
		if got := z.Total(); got != 1000 {
			t.Errorf("got total %d, want 1000", got)
		}
	})
	for _, exponent := range []int{1, 2} {
		for _, items := range []int{1, 2, 3, 100, 4097, 100_000, 1_100_000} {
			t.Run(fmt.Sprintf("same rank as a search of all weights/s=%d/items=%d", exponent, items), func(t *testing.T) {
				z, err := workload.NewZipf(items, exponent)
				if err != nil {
					t.Fatal(err)
				}
				cum := cumulated(items, exponent)
				total := cum[len(cum)-1]
				want := func(x uint64) int {
					w := workload.Below(x, total)
					return sort.Search(len(cum), func(k int) bool { return cum[k] > w })
				}
				s := workload.NewStream(7, 0)
				words := []uint64{0, 1, ^uint64(0), ^uint64(0) - 1, 1 << 63}
				for i := range uint64(20_000) {
					words = append(words, s.U(i, 0))
				}
				for _, x := range words {
					if got, want := z.Rank(x), want(x); got != want {
						t.Fatalf("rank of %016x: got %d, want %d", x, got, want)
					}
				}
			})
		}
	}
	t.Run("ranks never fall as words rise", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			z, err := workload.NewZipf(rapid.IntRange(1, 5000).Draw(t, "items"), rapid.IntRange(0, 2).Draw(t, "exponent"))
			if err != nil {
				t.Fatal(err)
			}
			x, y := rapid.Uint64().Draw(t, "x"), rapid.Uint64().Draw(t, "y")
			if x > y {
				x, y = y, x
			}
			if z.Rank(x) > z.Rank(y) {
				t.Fatalf("rank of %d is %d, of %d is %d", x, z.Rank(x), y, z.Rank(y))
			}
		})
	})
	for _, bad := range []workload.ZipfError{{0, 1}, {-1, 1}, {workload.MaxItems + 1, 1}, {10, -1}, {10, 3}} {
		t.Run(fmt.Sprintf("refuses/items=%d/s=%d", bad.Items, bad.Exponent), func(t *testing.T) {
			_, err := workload.NewZipf(bad.Items, bad.Exponent)
			var got *workload.ZipfError
			if !errors.As(err, &got) || *got != bad {
				t.Errorf("got error %v, want %v", err, &bad)
			}
		})
	}
}

func BenchmarkZipfRank(b *testing.B) {
	cum := cumulated(100_000, 1)
	total := cum[len(cum)-1]
	z, err := workload.NewZipf(100_000, 1)
	if err != nil {
		b.Fatal(err)
	}
	s := workload.NewStream(42, 2)
	const draws = 10_000
	sum := 0
	b.Run("guided", func(b *testing.B) {
		for b.Loop() {
			for i := range uint64(draws) {
				sum += z.Rank(s.U(i, 0))
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/draws, "ns/record")
	})
	b.Run("plain search of all weights", func(b *testing.B) {
		for b.Loop() {
			for i := range uint64(draws) {
				w := workload.Below(s.U(i, 0), total)
				sum += sort.Search(len(cum), func(k int) bool { return cum[k] > w })
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/draws, "ns/record")
	})
	if sum == 0 {
		b.Fatal("all ranks are 0")
	}
}

func ExampleZipf_Rank() {
	z, err := workload.NewZipf(1000, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, x := range []uint64{0, 1 << 62, 1 << 63, 3 << 62, ^uint64(0)} {
		fmt.Println(z.Rank(x))
	}
	// Output:
	// 0
	// 3
	// 23
	// 153
	// 999
}

package rdd

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkSample is a sample of integers beside the plain loop.
func BenchmarkSample(b *testing.B) {
	const n = 1 << 20
	perRecord := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	}
	for _, replace := range []bool{false, true} {
		name := "fraction=0.1"
		if replace {
			name += "/replace"
		}
		b.Run(name, func(b *testing.B) {
			c, _ := inlineContext(b, Options{})
			r := Range(c, 0, n, 1, 1).Sample(replace, 0.1, 1)
			for b.Loop() {
				must(r.Count(b.Context()))
			}
			perRecord(b)
		})
	}
	b.Run("loop", func(b *testing.B) {
		var taken int
		for b.Loop() {
			random := rand.New(rand.NewPCG(1, 2))
			taken = 0
			for range int64(n) {
				if random.Float64() < 0.1 {
					taken++
				}
			}
		}
		perRecord(b)
		if taken == 0 {
			b.Error("nothing taken")
		}
	})
}

// BenchmarkSliding is runs of five integers beside the plain loop.
func BenchmarkSliding(b *testing.B) {
	const n, size = 1 << 18, 5
	perRecord := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	}
	b.Run("size=5", func(b *testing.B) {
		c, _ := inlineContext(b, Options{})
		r := Sliding(Range(c, 0, n, 1, 4), size)
		for b.Loop() {
			must(r.Count(b.Context()))
		}
		perRecord(b)
	})
	b.Run("loop", func(b *testing.B) {
		rows := make([]int64, n)
		var runs [][]int64
		for b.Loop() {
			runs = runs[:0]
			for i := 0; i+size <= n; i++ {
				runs = append(runs, append([]int64(nil), rows[i:i+size]...))
			}
		}
		perRecord(b)
	})
}

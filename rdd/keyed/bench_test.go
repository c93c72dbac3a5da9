package keyed

import (
	"math/rand/v2"
	"sort"
	"sync"
	"testing"
)

// The words of the benchmarks: 10 million, of 100 thousand distinct ones of 4 to 10 letters, drawn by Zipf's law with s = 1
// or evenly, each a substring of one text, as a tokeniser leaves them.
const (
	benchWords    = 10_000_000
	benchDistinct = 100_000
)

type benchData struct {
	words []string
	ids   []int64
	pairs []Pair[string, int64]
	nums  []Pair[int64, int64]
}

func makeBenchData(weight func(rank int) float64) *benchData {
	rng := rand.New(rand.NewPCG(1, 2))
	dict := make([]string, 0, benchDistinct)
	numbers := make([]int64, benchDistinct)
	seen := make(map[string]bool)
	for len(dict) < benchDistinct {
		b := make([]byte, 4+rng.IntN(7))
		for i := range b {
			b[i] = 'a' + byte(rng.IntN(26))
		}
		if !seen[string(b)] {
			seen[string(b)] = true
			numbers[len(dict)] = rng.Int64N(1 << 40)
			dict = append(dict, string(b))
		}
	}
	sum := make([]float64, benchDistinct)
	total := 0.0
	for i := range sum {
		total += weight(i + 1)
		sum[i] = total
	}
	d := &benchData{ids: make([]int64, benchWords), words: make([]string, benchWords)}
	picks := make([]int32, benchWords)
	text := make([]byte, 0, benchWords*8)
	for i := range picks {
		n := sort.SearchFloat64s(sum, rng.Float64()*total)
		picks[i] = int32(n)
		d.ids[i] = numbers[n]
		text = append(text, dict[n]...)
		text = append(text, ' ')
	}
	all := string(text)
	at := 0
	for i, n := range picks {
		d.words[i] = all[at : at+len(dict[n])]
		at += len(dict[n]) + 1
	}
	d.pairs = make([]Pair[string, int64], benchWords)
	d.nums = make([]Pair[int64, int64], benchWords)
	for i := range picks {
		d.pairs[i] = Pair[string, int64]{d.words[i], 1}
		d.nums[i] = Pair[int64, int64]{d.ids[i], 1}
	}
	return d
}

var (
	zipfData    = sync.OnceValue(func() *benchData { return makeBenchData(func(r int) float64 { return 1 / float64(r) }) })
	uniformData = sync.OnceValue(func() *benchData { return makeBenchData(func(int) float64 { return 1 }) })
)

func eachData(b *testing.B, f func(b *testing.B, d *benchData)) {
	b.Run("zipf", func(b *testing.B) { f(b, zipfData()) })
	b.Run("uniform", func(b *testing.B) { f(b, uniformData()) })
}

func perRecord(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
	b.ReportMetric(0, "ns/op")
}

// chunks calls f on s in chunks of 1,024, as a stage does.
func chunks[T any](s []T, f func([]T)) {
	for len(s) > 0 {
		n := min(1024, len(s))
		f(s[:n])
		s = s[n:]
	}
}

func sum64(a, b int64) int64 { return a + b }

func mustHasher[K comparable](tb testing.TB) *Hasher[K] {
	tb.Helper()
	h, err := HasherFor[K]()
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func BenchmarkCountStrings(b *testing.B) {
	eachData(b, func(b *testing.B, d *benchData) {
		b.Run("table", func(b *testing.B) {
			h := mustHasher[string](b)
			for b.Loop() {
				t := New[string, int64](h, 0)
				chunks(d.words, func(w []string) { Count(t, w) })
			}
			perRecord(b, len(d.words))
		})
		b.Run("map", func(b *testing.B) {
			for b.Loop() {
				m := make(map[string]int64)
				for _, w := range d.words {
					m[w]++
				}
			}
			perRecord(b, len(d.words))
		})
	})
}

func BenchmarkReduceStrings(b *testing.B) {
	eachData(b, func(b *testing.B, d *benchData) {
		b.Run("table", func(b *testing.B) {
			h := mustHasher[string](b)
			for b.Loop() {
				t := New[string, int64](h, 0)
				chunks(d.pairs, func(p []Pair[string, int64]) { Reduce(t, p, sum64, nil) })
			}
			perRecord(b, len(d.pairs))
		})
		b.Run("map", func(b *testing.B) {
			f := sum64
			for b.Loop() {
				m := make(map[string]int64)
				for _, p := range d.pairs {
					if v, ok := m[p.Key]; ok {
						m[p.Key] = f(v, p.Value)
					} else {
						m[p.Key] = p.Value
					}
				}
			}
			perRecord(b, len(d.pairs))
		})
	})
}

func BenchmarkReduceInts(b *testing.B) {
	eachData(b, func(b *testing.B, d *benchData) {
		b.Run("table", func(b *testing.B) {
			h := mustHasher[int64](b)
			for b.Loop() {
				t := New[int64, int64](h, 0)
				chunks(d.nums, func(p []Pair[int64, int64]) { Reduce(t, p, sum64, nil) })
			}
			perRecord(b, len(d.nums))
		})
		b.Run("map", func(b *testing.B) {
			f := sum64
			for b.Loop() {
				m := make(map[int64]int64)
				for _, p := range d.nums {
					if v, ok := m[p.Key]; ok {
						m[p.Key] = f(v, p.Value)
					} else {
						m[p.Key] = p.Value
					}
				}
			}
			perRecord(b, len(d.nums))
		})
	})
}

func BenchmarkCountInts(b *testing.B) {
	eachData(b, func(b *testing.B, d *benchData) {
		b.Run("table", func(b *testing.B) {
			h := mustHasher[int64](b)
			for b.Loop() {
				t := New[int64, int64](h, 0)
				chunks(d.ids, func(k []int64) { Count(t, k) })
			}
			perRecord(b, len(d.ids))
		})
		b.Run("map", func(b *testing.B) {
			for b.Loop() {
				m := make(map[int64]int64)
				for _, k := range d.ids {
					m[k]++
				}
			}
			perRecord(b, len(d.ids))
		})
	})
}

// Keys of no special kind: kept whole, compared field by field.
func BenchmarkReduceStructs(b *testing.B) {
	type key struct {
		ID   int64
		Kind int32
	}
	d := zipfData()
	rows := make([]Pair[key, int64], len(d.ids)/10)
	for i := range rows {
		rows[i] = Pair[key, int64]{key{d.ids[i], int32(i % 2)}, 1}
	}
	b.Run("table", func(b *testing.B) {
		h := mustHasher[key](b)
		for b.Loop() {
			t := New[key, int64](h, 0)
			chunks(rows, func(p []Pair[key, int64]) { Reduce(t, p, sum64, nil) })
		}
		perRecord(b, len(rows))
	})
	b.Run("map", func(b *testing.B) {
		for b.Loop() {
			m := make(map[key]int64)
			for _, p := range rows {
				m[p.Key] += p.Value
			}
		}
		perRecord(b, len(rows))
	})
}

// Both sides of a shuffle: split a table into blocks, merge them into others.
func BenchmarkSplitAndMerge(b *testing.B) {
	d := uniformData()
	t := New[string, int64](mustHasher[string](b), 0)
	Count(t, d.words[:1_000_000])
	b.Run("split", func(b *testing.B) {
		for b.Loop() {
			t.SplitHash(8)
		}
		perRecord(b, t.Len())
	})
	b.Run("merge", func(b *testing.B) {
		blocks := t.SplitHash(8)
		for b.Loop() {
			for _, block := range blocks {
				Merge(New[string, int64](t.Hasher(), block.Rows()), block, sum64, nil)
			}
		}
		perRecord(b, t.Len())
	})
	b.Run("pairs", func(b *testing.B) {
		var dst []Pair[string, int64]
		for b.Loop() {
			for from := 0; from < t.Len(); from += 1024 {
				dst = t.Pairs(dst[:0], from, min(from+1024, t.Len()))
			}
		}
		perRecord(b, t.Len())
	})
}

// Rows whose keys are packed once, looked for in a table, and beside it a plain loop over a Go map.
func BenchmarkPacked(b *testing.B) {
	d := uniformData()
	t := New[string, int64](mustHasher[string](b), 0)
	Count(t, d.words[:1_000_000])
	rows := d.pairs[:100_000]
	p := NewPacked[string, int64](t.Hasher(), 0)
	p.Append(rows)
	at := make([]int32, 512)
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			NewPacked[string, int64](t.Hasher(), len(rows)).Append(rows)
		}
		perRecord(b, len(rows))
	})
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			for from := 0; from < p.Len(); from += len(at) {
				FindPacked(t, p, from, min(from+len(at), p.Len()), at)
			}
		}
		perRecord(b, len(rows))
	})
	b.Run("findPairs", func(b *testing.B) {
		for b.Loop() {
			for from := 0; from < len(rows); from += len(at) {
				FindPairs(t, rows[from:min(from+len(at), len(rows))], at)
			}
		}
		perRecord(b, len(rows))
	})
	b.Run("plain", func(b *testing.B) {
		m := make(map[string]int64)
		for i := range t.Len() {
			m[t.Key(i)] = *t.Value(i)
		}
		var sum int64
		for b.Loop() {
			for _, r := range rows {
				sum += m[r.Key]
			}
		}
		if sum == 0 {
			b.Error("nothing was found")
		}
		perRecord(b, len(rows))
	})
}

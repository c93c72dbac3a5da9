package rdd

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchTask is a task outside of any scheduler: what is measured is the records' way alone.
func benchTask(b *testing.B) *task {
	return newTask(b.Context(), &inlineEnv{runner: newInlineRunner(false)})
}

func perRecord(b *testing.B, records int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
}

func triple(x int64) int64   { return 3*x + 1 }
func notOfFive(x int64) bool { return x%5 != 0 }
func twice(x int64, out []int64) []int64 {
	if x%2 == 0 {
		out = append(out, x)
	}
	return append(out, x>>1)
}

// BenchmarkNarrow is map, filter, flatMap and a sum over a million integers: operators with a
// function per record, with one per chunk, and the same written as one loop.
func BenchmarkNarrow(b *testing.B) {
	const n = 1 << 20
	rows := make([]int64, n)
	for i := range rows {
		rows[i] = int64(i * 7919 % n)
	}
	var want int64
	b.Run("loop", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			want = 0
			for _, x := range rows {
				if x = triple(x); notOfFive(x) {
					if x%2 == 0 {
						want += x
					}
					want += x >> 1
				}
			}
		}
		perRecord(b, n)
	})
	sumOf := func(b *testing.B, r *RDD[int64]) {
		t := benchTask(b)
		var sum int64
		b.ReportAllocs()
		for b.Loop() {
			sum = 0
			if err := r.push(t, 0, func(chunk []int64) error {
				for _, x := range chunk {
					sum += x
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
		}
		if want != 0 && sum != want {
			b.Errorf("sum %d, want %d", sum, want)
		}
		perRecord(b, n)
	}
	c := newTestContext(b, newInlineRunner(false), Options{})
	in := Parallelize(c, rows, 1)
	b.Run("source", func(b *testing.B) {
		t := benchTask(b)
		for b.Loop() {
			if err := in.push(t, 0, func([]int64) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
		perRecord(b, n)
	})
	b.Run("map", func(b *testing.B) {
		t, r := benchTask(b), Map(in, triple)
		for b.Loop() {
			if err := r.push(t, 0, func([]int64) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
		perRecord(b, n)
	})
	b.Run("records", func(b *testing.B) { sumOf(b, FlatMapAppend(Map(in, triple).Filter(notOfFive), twice)) })
	b.Run("chunks", func(b *testing.B) {
		sumOf(b, MapChunks(in, func(in, out []int64) ([]int64, error) {
			for _, x := range in {
				if x = triple(x); notOfFive(x) {
					out = twice(x, out)
				}
			}
			return out, nil
		}))
	})
}

// BenchmarkReduceByKey counts a million keys: with a Go map, and with both sides of the shuffle.
func BenchmarkReduceByKey(b *testing.B) {
	const n, keys = 1 << 20, 50_000
	words, ints := make([]Pair[string, int64], n), make([]Pair[int64, int64], n)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		k := random.IntN(keys)
		words[i], ints[i] = kv(fmt.Sprint("word", k), int64(1)), kv(int64(k), int64(1))
	}
	benchReduce(b, "strings", words)
	benchReduce(b, "ints", ints)
}

func benchReduce[K comparable](b *testing.B, name string, rows []Pair[K, int64]) {
	b.Run(name+"/map", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			counts := map[K]int64{}
			for _, p := range rows {
				counts[p.Key] += p.Value
			}
		}
		perRecord(b, len(rows))
	})
	b.Run(name+"/reduceByKey", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := newTestContext(b, newInlineRunner(false), Options{})
			r := ReduceByKey(Parallelize(c, rows, 4), add[int64], NumPartitions(4))
			if _, err := r.Count(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
		perRecord(b, len(rows))
	})
}

// BenchmarkTextFile counts the bytes of the lines of a file of 16 MiB.
func BenchmarkTextFile(b *testing.B) {
	line := strings.Repeat("some words in a line ", 4)
	text := strings.Repeat(line+"\n", 16<<20/(len(line)+1))
	path := filepath.Join(b.TempDir(), "text")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	lines := strings.Count(text, "\n")
	b.Run("loop", func(b *testing.B) {
		for b.Loop() {
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			total := 0
			for {
				end := bytes.IndexByte(data, '\n')
				if end < 0 {
					break
				}
				total += end
				data = data[end+1:]
			}
			if total != lines*len(line) {
				b.Fatal(total)
			}
		}
		perRecord(b, lines)
	})
	b.Run("textFile", func(b *testing.B) {
		b.ReportAllocs()
		r := TextFile(newTestContext(b, newInlineRunner(false), Options{}), path, 1)
		t := benchTask(b)
		if n, err := r.NumPartitions(); n != 1 || err != nil {
			b.Fatal(n, err)
		}
		for b.Loop() {
			total := 0
			if err := r.push(t, 0, func(chunk []string) error {
				for _, s := range chunk {
					total += len(s)
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
			if total != lines*len(line) {
				b.Fatal(total)
			}
		}
		perRecord(b, lines)
	})
}

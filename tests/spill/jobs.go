package main

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/workload"
)

// A job is one line of the table. run returns what is wrong with the answer, nil if it is right.
type job struct {
	name     string
	rowBytes int64
	run      func(ctx context.Context, c *rdd.Context, rows int64, partitions int) (wrong, err error)
}

var jobs = []job{
	{"wordcount", 75, wordCount},
	{"sort", 100, sorted},
	{"group", 100, grouped},
	{"join", 100, joined},
}

// sums are what an answer is reduced to. Different keys are counted by the caller.
type sums struct {
	Rows, Keys int64
	Digest     uint64
}

func (s sums) add(o sums) sums {
	return sums{Rows: s.Rows + o.Rows, Keys: s.Keys + o.Keys, Digest: s.Digest + o.Digest}
}

func (s sums) differ(want sums) error {
	if s != want {
		return fmt.Errorf("%+v, want %+v", s, want)
	}
	return nil
}

// wordCount counts words, most of them seen once or twice.
func wordCount(ctx context.Context, c *rdd.Context, n int64, partitions int) (wrong, err error) {
	r := newRows()
	rare := n / 2
	words := rdd.FlatMapAppend(rdd.Range(c, 0, n, 1, partitions), func(i int64, out []string) []string {
		return r.appendWords(out, i, rare)
	})
	ones := rdd.Map(words, func(w string) rdd.Pair[string, int64] { return rdd.Pair[string, int64]{Key: w, Value: 1} })
	counts := rdd.ReduceByKey(ones, func(a, b int64) int64 { return a + b })
	got, err := rdd.Aggregate(ctx, counts, sums{}, func(s sums, p rdd.Pair[string, int64]) sums {
		return s.add(sums{Rows: p.Value, Keys: 1, Digest: digest(p.Key) * uint64(p.Value)})
	}, sums.add)
	if err != nil {
		return nil, err
	}
	var want sums
	seen, common := newBitmap(rare), map[string]bool{}
	var line []string
	for i := range n {
		line = r.appendWords(line[:0], i, rare)
		for _, w := range line[:wordsALine-1] {
			common[w] = true
			want.Digest += digest(w)
		}
		want.Digest += digest(line[wordsALine-1])
		seen.add(r.rare(i, rare))
	}
	want.Rows, want.Keys = n*wordsALine, seen.len()+int64(len(common))
	return got.differ(want), nil
}

type record = rdd.Pair[int64, string]

// sorted sorts records by a random key, and checks the order within partitions and from one to the next.
func sorted(ctx context.Context, c *rdd.Context, n int64, partitions int) (wrong, err error) {
	r := newRows()
	records := rdd.Map(rdd.Range(c, 0, n, 1, partitions), func(i int64) record { return r.record(i) })
	inOrder, err := rdd.SortByKey(ctx, records)
	if err != nil {
		return nil, err
	}
	type part struct {
		sums
		First, Last int64
		Disordered  bool
	}
	parts, err := rdd.Aggregate(ctx, inOrder, []part{}, func(all []part, x record) []part {
		if len(all) == 0 {
			all = append(all, part{First: x.Key, Last: x.Key})
		}
		p := &all[0]
		p.Disordered = p.Disordered || x.Key < p.Last
		p.Last = x.Key
		p.sums = p.add(sumsOf(x))
		return all
	}, func(a, b []part) []part { return append(a, b...) })
	if err != nil {
		return nil, err
	}
	var got, want sums
	for i, p := range parts {
		if p.Disordered || i > 0 && parts[i-1].Last > p.First {
			return fmt.Errorf("part %d of %d is out of order", i, len(parts)), nil
		}
		got = got.add(p.sums)
	}
	for i := range n {
		want = want.add(sumsOf(r.record(i)))
	}
	return got.differ(want), nil
}

// record is row i of the jobs over records.
func (r *rows) record(i int64) record {
	return record{Key: int64(r.draws.U(uint64(i), 0)), Value: r.payload(i, 92)}
}

func sumsOf(x record) sums {
	return sums{Rows: 1, Digest: workload.Mix(uint64(x.Key)) ^ digest(x.Value)}
}

// grouped groups records by a key that about eight of them share.
func grouped(ctx context.Context, c *rdd.Context, n int64, partitions int) (wrong, err error) {
	r := newRows()
	keys := max(n/8, 1)
	at := func(i int64) record {
		x := r.record(i)
		x.Key = int64(workload.Below(uint64(x.Key), uint64(keys)))
		return x
	}
	groups := rdd.GroupByKey(rdd.Map(rdd.Range(c, 0, n, 1, partitions), at))
	got, err := rdd.Aggregate(ctx, groups, sums{}, func(s sums, g rdd.Pair[int64, []string]) sums {
		s.Keys++
		for _, v := range g.Value {
			s = s.add(sumsOf(record{Key: g.Key, Value: v}))
		}
		return s
	}, sums.add)
	if err != nil {
		return nil, err
	}
	var want sums
	seen := newBitmap(keys)
	for i := range n {
		x := at(i)
		want = want.add(sumsOf(x))
		seen.add(x.Key)
	}
	want.Keys = seen.len()
	return got.differ(want), nil
}

// joined joins two halves: each key is once on the left and, one of two, twice on the right.
func joined(ctx context.Context, c *rdd.Context, n int64, partitions int) (wrong, err error) {
	r := newRows()
	half := n / 2
	left := func(i int64) record { return record{Key: half - 1 - i, Value: r.payload(i, 92)} }
	right := func(i int64) record { return record{Key: i / 2, Value: r.payload(half+i, 92)} }
	side := func(f func(int64) record) *rdd.RDD[record] {
		return rdd.Map(rdd.Range(c, 0, half, 1, max(partitions/2, 1)), f)
	}
	got, err := rdd.Aggregate(ctx, rdd.Join(side(left), side(right)), sums{}, func(s sums, p rdd.Pair[int64, rdd.Joined[string, string]]) sums {
		return s.add(match(p.Key, p.Value.Left, p.Value.Right))
	}, sums.add)
	if err != nil {
		return nil, err
	}
	var want sums
	for i := range half {
		x := right(i)
		want = want.add(match(x.Key, left(half-1-x.Key).Value, x.Value))
	}
	return got.differ(want), nil
}

func match(key int64, left, right string) sums {
	return sums{Rows: 1, Digest: workload.Mix(uint64(key)^digest(left)) ^ digest(right)}
}

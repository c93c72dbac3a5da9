package rdd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// widePairs are a million pairs of so many keys.
func widePairs(keys int) []Pair[int64, int64] {
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]Pair[int64, int64], 1<<20)
	for i := range rows {
		rows[i] = kv(int64(random.IntN(keys)), int64(i))
	}
	return rows
}

// BenchmarkWide is operators behind a shuffle over a million pairs: what they cost without files, beside a loop over
// the same rows.
func BenchmarkWide(b *testing.B) {
	few, many := widePairs(50_000), widePairs(1<<40)
	b.Run("groupByKey/loop", func(b *testing.B) {
		for b.Loop() {
			groups := map[int64][]int64{}
			for _, p := range few {
				groups[p.Key] = append(groups[p.Key], p.Value)
			}
		}
		perRecord(b, len(few))
	})
	b.Run("sortByKey/loop", func(b *testing.B) {
		for b.Loop() {
			rows := slices.Clone(few)
			slices.SortStableFunc(rows, func(a, b Pair[int64, int64]) int { return int(a.Key - b.Key) })
		}
		perRecord(b, len(few))
	})
	for _, x := range wideOperators(few, many) {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := newTestContext(b, newInlineRunner(false), Options{})
				if _, err := x.count(c); err != nil {
					b.Fatal(err)
				}
			}
			perRecord(b, len(few))
		})
	}
}

// wideOperator is an operator over a million pairs.
type wideOperator struct {
	name  string
	count func(c *Context) (int64, error)
}

func wideOperators(few, many []Pair[int64, int64]) []wideOperator {
	ctx := context.Background()
	texts := make([]Pair[string, int64], len(few))
	for i, p := range many {
		texts[i] = kv(fmt.Sprint("word", p.Key), p.Value)
	}
	return []wideOperator{
		{"groupByKey", func(c *Context) (int64, error) { return GroupByKey(Parallelize(c, few, 4)).Count(ctx) }},
		{"cogroup", func(c *Context) (int64, error) {
			in := Parallelize(c, few, 4)
			return CoGroup(in, Parallelize(c, few[:1000], 1)).Count(ctx)
		}},
		{"sortByKey", func(c *Context) (int64, error) {
			r, err := SortByKey(ctx, Parallelize(c, few, 4))
			if err != nil {
				return 0, err
			}
			return r.Count(ctx)
		}},
		{"repartitionAndSort", func(c *Context) (int64, error) {
			return RepartitionAndSortWithinPartitions(Parallelize(c, few, 4), Hash[int64](4)).Count(ctx)
		}},
		{"subtractByKey", func(c *Context) (int64, error) {
			return SubtractByKey(Parallelize(c, few, 4), Parallelize(c, few[:1000], 1)).Count(ctx)
		}},
		{"partitionBy", func(c *Context) (int64, error) { return PartitionBy(Parallelize(c, few, 4), Hash[int64](4)).Count(ctx) }},
		{"reduceByKey, unique keys", func(c *Context) (int64, error) {
			return ReduceByKey(Parallelize(c, many, 4), add[int64]).Count(ctx)
		}},
		{"reduceByKey, unique strings", func(c *Context) (int64, error) {
			return ReduceByKey(Parallelize(c, texts, 4), add[int64]).Count(ctx)
		}},
	}
}

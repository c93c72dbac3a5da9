package dstream_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

const benchKeys = 10_000

// eachKey gives every batch one pair for each key.
type eachKey struct{ rows []rdd.Pair[int, int] }

func newEachKey() eachKey {
	in := eachKey{rows: make([]rdd.Pair[int, int], benchKeys)}
	for i := range in.rows {
		in.rows[i] = rdd.Pair[int, int]{Key: i * 7919 % benchKeys, Value: i}
	}
	return in
}

func (in eachKey) RDD(c *rdd.Context, _ dstream.Time) (*rdd.RDD[rdd.Pair[int, int]], error) {
	return rdd.FromBlocks(c, [][]rdd.Pair[int, int]{in.rows[:benchKeys/2], in.rows[benchKeys/2:]}), nil
}

// BenchmarkWindowSlide measures what one slide of a window over 10,000 keys costs, and beside it a
// plain loop that does the same with Go maps.
func BenchmarkWindowSlide(b *testing.B) {
	for _, c := range []struct {
		name  string
		sizes []int
		build func(s *dstream.DStream[rdd.Pair[int, int]], window time.Duration) *dstream.DStream[rdd.Pair[int, int]]
	}{
		{"inverse", []int{6, 60, 600}, func(s *dstream.DStream[rdd.Pair[int, int]], window time.Duration) *dstream.DStream[rdd.Pair[int, int]] {
			return dstream.ReduceByKeyAndWindow(s, add, subtract, window, 0)
		}},
		{"panes", []int{6, 60, 600}, func(s *dstream.DStream[rdd.Pair[int, int]], window time.Duration) *dstream.DStream[rdd.Pair[int, int]] {
			return dstream.ReduceByKeyAndWindow(s, add, nil, window, 0)
		}},
		{"recomputed", []int{6, 60, 600}, func(s *dstream.DStream[rdd.Pair[int, int]], window time.Duration) *dstream.DStream[rdd.Pair[int, int]] {
			return dstream.ReduceByKey(dstream.Window(s, window, 0), add)
		}},
	} {
		for _, size := range c.sizes {
			b.Run(fmt.Sprintf("%s/window=%d", c.name, size), func(b *testing.B) {
				d := newDriver(b, setup{parallelism: 2})
				s := c.build(dstream.NewInput(d.graph, "eachKey", "Each key", newEachKey()), seconds(size))
				dstream.ForeachRDD(s, func(ctx ctx, r *rdd.RDD[rdd.Pair[int, int]], _ dstream.Time) error {
					n, err := r.Count(ctx)
					if err == nil && n != benchKeys {
						err = fmt.Errorf("%d keys", n)
					}
					return err
				})
				d.start()
				warm := 2*size + 1
				if c.name == "recomputed" {
					warm = size
				}
				for range warm {
					if err := d.step(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := d.step(); err != nil {
						b.Fatal(err)
					}
				}
				perSlide(b)
			})
		}
	}
	b.Run("plain/inverse", func(b *testing.B) {
		rows := newEachKey().rows
		window := map[int]int{}
		for b.Loop() {
			for _, p := range rows {
				window[p.Key] += p.Value
			}
			for _, p := range rows {
				window[p.Key] -= p.Value
			}
		}
		perSlide(b)
	})
	b.Run("plain/recomputed/window=60", func(b *testing.B) {
		rows := newEachKey().rows
		for b.Loop() {
			window := map[int]int{}
			for range 60 {
				for _, p := range rows {
					window[p.Key] += p.Value
				}
			}
		}
		perSlide(b)
	})
}

func perSlide(b *testing.B) {
	perSlide := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(perSlide, "ns/slide")
	b.ReportMetric(perSlide/benchKeys, "ns/record")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkState measures what a batch of 100 keys costs a state of many, where every key is looked at
// and where only those of the batch are.
func BenchmarkState(b *testing.B) {
	for _, keys := range []int{1_000, 100_000} {
		for name, opts := range map[string][]dstream.StateOption{"all": nil, "touched": {dstream.TouchedOnly()}} {
			b.Run(fmt.Sprintf("keys=%d/%s", keys, name), func(b *testing.B) {
				d := newDriver(b, setup{parallelism: 2})
				initial := make([]rdd.Pair[int, int], keys)
				for i := range initial {
					initial[i].Key = i
				}
				opts := append([]dstream.StateOption{dstream.InitialState(rdd.Parallelize(d.rdds, initial, 2))}, opts...)
				s := dstream.UpdateStateByKey(dstream.NewInput(d.graph, "generated", "Generated", generated{}), sumState, opts...)
				// One record a partition is read: what counts is the state itself, not passing over all of it.
				dstream.ForeachRDD(s, func(ctx ctx, r *rdd.RDD[rdd.Pair[int, int]], _ dstream.Time) error {
					return r.ForeachPartition(ctx, func(_ context.Context, _ int, rows iter.Seq[rdd.Pair[int, int]]) error {
						for range rows {
							break
						}
						return nil
					})
				})
				d.run(5)
				b.ReportAllocs()
				for b.Loop() {
					if err := d.step(); err != nil {
						b.Fatal(err)
					}
				}
				perBatch := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(perBatch, "ns/batch")
				b.ReportMetric(perBatch/20, "ns/record")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

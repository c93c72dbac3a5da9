package dstream_test

import (
	"fmt"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// touchedKeys gives every batch some pairs of very many keys.
type touchedKeys struct{ batches [][]rdd.Pair[int, int] }

func newTouchedKeys(keys, perBatch int) touchedKeys {
	var in touchedKeys
	x := uint64(1)
	for range 20 {
		rows := make([]rdd.Pair[int, int], perBatch)
		for i := range rows {
			x = x*6364136223846793005 + 1442695040888963407
			rows[i] = rdd.Pair[int, int]{Key: int(x>>33) % keys, Value: 1}
		}
		in.batches = append(in.batches, rows)
	}
	return in
}

func (in touchedKeys) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[rdd.Pair[int, int]], error) {
	return rdd.FromBlocks(c, [][]rdd.Pair[int, int]{in.batches[int(t/1000)%len(in.batches)]}), nil
}

// BenchmarkStateTouched measures batches that touch one key in a hundred, and beside them a Go map.
func BenchmarkStateTouched(b *testing.B) {
	const keys, perBatch = 1_000_000, 10_000
	in := newTouchedKeys(keys, perBatch)
	perTouch := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/perBatch, "ns/record")
		b.ReportMetric(0, "ns/op")
	}
	initial := make([]rdd.Pair[int, int], keys)
	for i := range initial {
		initial[i].Key = i
	}
	for _, name := range []string{"updateStateByKey", "mapWithState"} {
		b.Run(fmt.Sprintf("%s/keys=%d", name, keys), func(b *testing.B) {
			d := newDriver(b, setup{parallelism: 1})
			pairs := dstream.NewInput(d.graph, "touched", "Touched", in)
			start := rdd.FromBlocks(d.rdds, [][]rdd.Pair[int, int]{initial})
			if name == "mapWithState" {
				m := dstream.MapWithState(pairs, dstream.NewTimedStateSpec(sumEmittingNothing).Initial(start))
				m.Checkpoint(seconds(100))
				dstream.ForeachRDD(m.DStream, func(ctx ctx, r *rdd.RDD[int], _ dstream.Time) error {
					_, err := r.Count(ctx)
					return err
				})
			} else {
				s := dstream.UpdateStateByKey(pairs, sumState, dstream.InitialState(start), dstream.TouchedOnly())
				s.Checkpoint(seconds(100))
				dstream.ForeachRDD(s, func(ctx ctx, r *rdd.RDD[rdd.Pair[int, int]], _ dstream.Time) error {
					_, err := r.Take(ctx, 1)
					return err
				})
			}
			d.run(5)
			b.ReportAllocs()
			for b.Loop() {
				if err := d.step(); err != nil {
					b.Fatal(err)
				}
			}
			perTouch(b)
		})
	}
	b.Run(fmt.Sprintf("plain/keys=%d", keys), func(b *testing.B) {
		m := make(map[int]int, keys)
		for k := range keys {
			m[k] = 0
		}
		n := 0
		for b.Loop() {
			for _, p := range in.batches[n%len(in.batches)] {
				m[p.Key] += p.Value
			}
			n++
		}
		perTouch(b)
	})
}

func sumEmittingNothing(_ dstream.Time, _ int, value rdd.Option[int], s *dstream.State[int]) rdd.Option[int] {
	_ = s.Update(s.Option().Value + value.Value) // refused where the key is timing out, which none is
	return rdd.Option[int]{}
}

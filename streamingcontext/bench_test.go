package streamingcontext_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// counting returns a started context of one input, map, reduceByKey and an output that counts, with a
// clock that stands still, and a channel that gets each completed batch.
func counting(tb testing.TB, in func(*streamingcontext.Context) *dstream.DStream[int], opts streamingcontext.Options) (*streamingcontext.Context, *streamingcontext.ManualClock, <-chan streamingcontext.BatchInfo) {
	tb.Helper()
	clock := &streamingcontext.ManualClock{}
	done := make(chan streamingcontext.BatchInfo, 1)
	opts.Interval, opts.Clock = time.Second, clock
	opts.Listeners = []streamingcontext.Listener{{BatchCompleted: func(b streamingcontext.BatchInfo) { done <- b }}}
	ssc := streamingcontext.New(opts)
	pairs := dstream.Map(in(ssc), func(x int) rdd.Pair[int, int64] { return rdd.Pair[int, int64]{Key: x % 16, Value: 1} })
	counts := dstream.ReduceByKey(pairs, func(a, b int64) int64 { return a + b })
	dstream.ForeachRDD(counts, func(ctx context.Context, r *rdd.RDD[rdd.Pair[int, int64]], _ dstream.Time) error {
		_, err := r.Count(ctx)
		return err
	})
	if err := ssc.Start(context.Background()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := ssc.Stop(context.Background(), streamingcontext.StopOptions{}); err != nil {
			tb.Error(err)
		}
	})
	return ssc, clock, done
}

func nothing(ssc *streamingcontext.Context) *dstream.DStream[int] {
	return streamingcontext.Slices[int](ssc, nil, 2)
}

// BenchmarkEmptyBatch is what a batch costs before its first record: two stages of two tasks, a
// shuffle between them, three decisions in a log in memory.
func BenchmarkEmptyBatch(b *testing.B) {
	for _, parts := range []int{1, 2} {
		b.Run(fmt.Sprintf("parts=%d", parts), func(b *testing.B) {
			_, clock, done := counting(b, nothing, streamingcontext.Options{
				EngineOptions: streamingcontext.EngineOptions{Cores: 2, DefaultParallelism: parts}})
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				clock.Advance(1000)
				<-done
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "p99-µs")
		})
	}
}

// BenchmarkBatch is a batch of 100,000 records against a plain loop over the same records.
func BenchmarkBatch(b *testing.B) {
	const records = 100_000
	rows := make([]int, records)
	for i := range rows {
		rows[i] = i
	}
	b.Run("stream", func(b *testing.B) {
		_, clock, done := counting(b, func(ssc *streamingcontext.Context) *dstream.DStream[int] {
			return streamingcontext.Constant(ssc, rdd.Parallelize(ssc.RDDs(), rows, 2))
		}, streamingcontext.Options{EngineOptions: streamingcontext.EngineOptions{Cores: 2}})
		b.ReportAllocs()
		for b.Loop() {
			clock.Advance(1000)
			<-done
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
	})
	b.Run("loop", func(b *testing.B) {
		keys := 0
		for b.Loop() {
			counts := map[int]int64{}
			for _, x := range rows {
				counts[x%16]++
			}
			keys += len(counts)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
	})
}

package executor_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// BenchmarkShuffle writes map outputs of one block a bucket and reads them back.
func BenchmarkShuffle(b *testing.B) {
	const maps, rows = 16, 1000
	for _, reduces := range []int{1, 16, 256} {
		block := make([]int64, rows)
		s := &lineage.Shuffle{NumReducers: reduces, Codec: schedulertest.Codec{},
			Parent: new(schedulertest.Graph).Source("source", maps, nil),
			Write: func(_ context.Context, _ lineage.Env, _ int, out lineage.Buckets) error {
				for r := range reduces {
					if err := out.Put(r, block); err != nil {
						return err
					}
				}
				return nil
			}}
		run := func(b *testing.B, e *executor.Executor) {
			b.ReportAllocs()
			for b.Loop() {
				var outs []scheduler.MapOutput
				for m := range maps {
					end := e.Run(b.Context(), &scheduler.Task{ID: scheduler.TaskID(m), Attempt: lineage.Attempt{Partition: m}, Shuffle: s})
					outs = append(outs, scheduler.MapOutput{Executor: "a", MapStatus: end.Status})
				}
				got := 0
				for r := range reduces {
					tk := task(r, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
						return nil, env.Fetch(ctx, s, r, func(_ int, b lineage.Block) error {
							got += len(b.([]int64))
							return nil
						})
					})
					tk.Inputs = []scheduler.Input{{Shuffle: s.ID, Maps: outs}}
					e.Run(b.Context(), tk)
				}
				if got != maps*reduces*rows {
					b.Fatalf("%d rows", got)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(maps*reduces), "ns/block")
		}
		b.Run(fmt.Sprintf("reduces=%d/memory", reduces), func(b *testing.B) { run(b, executor.New(executor.Options{ID: "a"})) })
		// What a slice of slices would cost.
		b.Run(fmt.Sprintf("reduces=%d/plain", reduces), func(b *testing.B) {
			for b.Loop() {
				outs := make([][][]lineage.Block, maps)
				for m := range outs {
					outs[m] = make([][]lineage.Block, reduces)
					for r := range reduces {
						outs[m][r] = append(outs[m][r], block)
					}
				}
				got := 0
				for r := range reduces {
					for m := range outs {
						for _, b := range outs[m][r] {
							got += len(b.([]int64))
						}
					}
				}
				if got != maps*reduces*rows {
					b.Fatalf("%d rows", got)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(maps*reduces), "ns/block")
		})
	}
}

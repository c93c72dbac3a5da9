package receivers_test

import (
	"context"
	"testing"

	"github.com/leat-io/leat/receivers"
)

// countBlocks is a block store that keeps nothing.
type countBlocks struct{ records int64 }

func (c *countBlocks) Put(_ context.Context, block receivers.Block[int64]) error {
	c.records += block.Count()
	return nil
}

func BenchmarkStore(b *testing.B) {
	store := func(b *testing.B, rate int64) {
		var blocks countBlocks
		gen, err := receivers.NewGenerator(0, &blocks, receivers.GeneratorOptions{MaxBlockRecords: 1 << 24, MaxRate: rate})
		if err != nil {
			b.Fatal(err)
		}
		ctx := b.Context()
		if err := gen.Start(ctx); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := gen.Store(ctx, 1); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/record")
		if err := gen.Stop(context.WithoutCancel(ctx)); err != nil || blocks.records == 0 {
			b.Errorf("Stop = %v, %d records", err, blocks.records)
		}
	}
	b.Run("generator", func(b *testing.B) { store(b, 0) })
	// The rate is out of reach, so this is what looking at it costs.
	b.Run("generator with a rate", func(b *testing.B) { store(b, 1_000_000_000) })
	b.Run("plain append", func(b *testing.B) {
		var buffer []int64
		b.ReportAllocs()
		for b.Loop() {
			if len(buffer) == 1<<20 {
				buffer = buffer[:0]
			}
			buffer = append(buffer, 1)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/record")
	})
}

package receivers_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/receiverstest"
)

// Records of one call are limited, block by block and token by token, as if each had been stored with a call of its own.
func TestStoreEach_R1_R5_is_Store_for_each_record(t *testing.T) {
	opts := receivers.GeneratorOptions{BlockInterval: 100 * time.Millisecond, MaxBlockRecords: 7, MaxRate: 60}
	blocksOf := func(store func(b *bench, ctx context.Context, records []int) error) (sizes []int) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, opts)
			ctx, cancel := context.WithCancel(t.Context())
			var storing sync.WaitGroup
			storing.Go(func() {
				for i := 0; ; i += 10 {
					if store(b, ctx, []int{i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9}) != nil {
						return
					}
				}
			})
			for range 2000 {
				synctest.Wait()
				b.advance(1)
			}
			cancel()
			storing.Wait()
			b.stop(t)
			records := b.blocks.Records()
			for i, r := range records {
				if r != i {
					t.Fatalf("record %d is %d", i, r)
				}
			}
			for _, block := range b.blocks.All() {
				sizes = append(sizes, len(block.Records))
			}
		})
		return sizes
	}
	each := blocksOf(func(b *bench, ctx context.Context, records []int) error {
		_, err := b.StoreEach(ctx, records)
		return err
	})
	single := blocksOf(func(b *bench, ctx context.Context, records []int) error {
		for _, r := range records {
			if err := b.Store(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	// Two seconds at 60 records a second, in blocks of a tenth of a second; which of two blocks a record at their border
	// is in, is open.
	for name, blocks := range map[string][]int{"each": each, "one by one": single} {
		total := 0
		for _, n := range blocks {
			total += n
		}
		if total < 120 || total > 122 || len(blocks) < 19 || len(blocks) > 21 || slices.Max(blocks) > 7 {
			t.Errorf("%s: %d records in blocks of %v", name, total, blocks)
		}
	}
}

func TestStoreEach_says_how_many_were_taken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, receivers.GeneratorOptions{MaxBlockRecords: 3})
		ctx, cancel := context.WithCancel(t.Context())
		var taken int
		var err error
		var storing sync.WaitGroup
		storing.Go(func() { taken, err = b.StoreEach(ctx, upTo(5)) })
		synctest.Wait()
		cancel()
		storing.Wait()
		if taken != 3 || err != context.Canceled {
			t.Errorf("StoreEach = %d, %v", taken, err)
		}
		b.stop(t)
		if taken, err := b.StoreEach(t.Context(), upTo(2)); taken != 0 || !errors.Is(err, receivers.ErrNotActive) {
			t.Errorf("after the stop: %d, %v", taken, err)
		}
		if taken, err := b.StoreEach(t.Context(), nil); taken != 0 || err != nil {
			t.Errorf("no records: %d, %v", taken, err)
		}
		if diff := cmp.Diff(upTo(3), b.blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

// plainSink has no more than a Sink must have.
type plainSink struct{ receivers.Sink[int] }

func TestStoreEach_works_with_any_sink(t *testing.T) {
	refused := errors.New("refused")
	for name, wrap := range map[string]func(*receiverstest.Sink[int]) receivers.Sink[int]{
		"plain": func(s *receiverstest.Sink[int]) receivers.Sink[int] { return plainSink{s} },
		"each":  func(s *receiverstest.Sink[int]) receivers.Sink[int] { return s },
	} {
		sink := receiverstest.Sink[int]{Before: func(_ context.Context, taken int) error {
			if taken == 3 {
				return refused
			}
			return nil
		}}
		if taken, err := receivers.StoreEach(t.Context(), wrap(&sink), upTo(5)); taken != 3 || err != refused {
			t.Errorf("%s: %d, %v", name, taken, err)
		}
		if diff := cmp.Diff(upTo(3), sink.Records()); diff != "" {
			t.Errorf("%s: records (-want +got):\n%s", name, diff)
		}
	}
}

func TestStoreEach_is_refused_by_the_sink_of_a_receiver_that_has_ended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept receivers.Sink[int]
		s := supervise(t, &supervised{}, func(ctx context.Context, sink receivers.Sink[int]) error {
			kept = sink
			if taken, err := receivers.StoreEach(ctx, sink, upTo(4)); taken != 4 || err != nil {
				t.Errorf("StoreEach = %d, %v", taken, err)
			}
			<-ctx.Done()
			return nil
		}, receivers.Options{})
		if err := s.stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		if taken, err := receivers.StoreEach(t.Context(), kept, upTo(4)); taken != 0 || err != receivers.ErrSinkClosed {
			t.Errorf("after the end: %d, %v", taken, err)
		}
		if diff := cmp.Diff(upTo(4), s.blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

func BenchmarkStoreEach(b *testing.B) {
	records := upTo(1000)
	b.Run("generator", func(b *testing.B) {
		var blocks dropped
		gen, err := receivers.NewGenerator(0, &blocks, receivers.GeneratorOptions{BlockInterval: time.Millisecond})
		if err != nil {
			b.Fatal(err)
		}
		if err := gen.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := gen.StoreEach(b.Context(), records); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
		if err := gen.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("plain loop", func(b *testing.B) {
		b.ReportAllocs()
		var buffer []int
		for b.Loop() {
			if len(buffer) > 100_000 {
				buffer = make([]int, 0, len(buffer))
			}
			buffer = append(buffer, records...)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
	})
}

// dropped is a block store that keeps nothing.
type dropped struct{}

func (dropped) Put(context.Context, receivers.Block[int]) error { return nil }

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
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/receiverstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func upTo(n int) []int {
	records := make([]int, n)
	for i := range records {
		records[i] = i + 1
	}
	return records
}

// bench is a generator on a manual clock, inside a bubble.
type bench struct {
	*receivers.Generator[int]
	clock  receiverstest.Clock
	blocks receiverstest.Blocks[int]
}

func newBench(t *testing.T, opts receivers.GeneratorOptions) *bench {
	b := &bench{}
	opts.Clock = &b.clock
	if opts.BlockInterval == 0 {
		opts.BlockInterval = 10 * time.Millisecond
	}
	gen, err := receivers.NewGenerator(3, &b.blocks, opts)
	if err != nil {
		t.Fatal(err)
	}
	b.Generator = gen
	if err := gen.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) store(t *testing.T, records ...int) {
	t.Helper()
	for _, r := range records {
		if err := b.Store(t.Context(), r); err != nil {
			t.Fatalf("Store(%d) = %v", r, err)
		}
	}
}

func (b *bench) advance(d int64) {
	b.clock.Advance(d)
	synctest.Wait()
}

func (b *bench) stop(t *testing.T) {
	t.Helper()
	if err := b.Stop(t.Context()); err != nil {
		t.Errorf("Stop = %v", err)
	}
}

func TestGenerator_R1_cuts_one_block_per_interval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cuts []int
		b := newBench(t, receivers.GeneratorOptions{Listener: receivers.BlockListener{
			Cut: func(_ receivers.BlockID, records int) { cuts = append(cuts, records) },
		}})
		b.store(t, upTo(10)...)
		synctest.Wait()
		if got := b.blocks.All(); len(got) != 0 {
			t.Errorf("before the interval ended: %v", got)
		}
		b.advance(10)
		var added []string
		for _, name := range []string{"a", "b"} {
			if err := b.StoreThen(t.Context(), 11, func() { added = append(added, name) }); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.StoreAllThen(t.Context(), upTo(10), func() { added = append(added, "all") }); err != nil {
			t.Fatal(err)
		}
		b.advance(10)
		b.stop(t)
		want := []receivers.Block[int]{
			{Stream: 3, ID: 1, Records: upTo(10)}, // ids are greater than LastID, here 0, so the interval [0, 10) gets 1
			{Stream: 3, ID: 10, Records: append([]int{11, 11}, upTo(10)...)},
		}
		if diff := cmp.Diff(want, b.blocks.All()); diff != "" {
			t.Errorf("blocks (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a", "b", "all"}, added); diff != "" {
			t.Errorf("added callbacks (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]int{10, 12}, cuts); diff != "" {
			t.Errorf("cut blocks (-want +got):\n%s", diff)
		}
	})
}

func TestGenerator_R2_makes_no_empty_block(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, receivers.GeneratorOptions{})
		b.advance(50)
		b.stop(t)
		if got := b.blocks.All(); len(got) != 0 {
			t.Errorf("blocks: %v", got)
		}
	})
}

func TestGenerator_R3_stop_refuses_records_and_flushes_the_rest_once(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		b := &bench{}
		b.blocks.Before = func(context.Context, receivers.Block[int]) error { <-hold; return nil }
		gen, err := receivers.NewGenerator(3, &b.blocks, receivers.GeneratorOptions{Clock: &b.clock})
		if err != nil {
			t.Fatal(err)
		}
		b.Generator = gen
		if err := b.Store(t.Context(), 0); !errors.Is(err, receivers.ErrNotActive) {
			t.Errorf("Store before Start = %v", err)
		}
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.store(t, upTo(1000)...)
		var stops [2]error
		var stopping sync.WaitGroup
		for i := range stops {
			stopping.Go(func() { stops[i] = b.Stop(t.Context()) })
		}
		synctest.Wait()
		if got := b.State(); got != receivers.StoppedGeneratingBlocks {
			t.Errorf("state while the last block is stored: %v", got)
		}
		if err := b.Store(t.Context(), 0); !errors.Is(err, receivers.ErrNotActive) {
			t.Errorf("Store after Stop = %v", err)
		}
		close(hold)
		stopping.Wait()
		b.stop(t)
		if stops != [2]error{} {
			t.Errorf("Stop = %v", stops)
		}
		if diff := cmp.Diff(upTo(1000), b.blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
		if got := b.State(); got != receivers.StoppedAll {
			t.Errorf("state at the end: %v", got)
		}
	})
}

func TestGenerator_R4_reports_a_failed_put_and_tries_again(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		var failed, stored []receivers.BlockID
		var tries []receivers.BlockID
		b := &bench{}
		b.blocks.Before = func(_ context.Context, block receivers.Block[int]) error {
			tries = append(tries, block.ID)
			if len(tries) <= 2 {
				return full
			}
			return nil
		}
		gen, err := receivers.NewGenerator(3, &b.blocks, receivers.GeneratorOptions{
			Clock: &b.clock, BlockInterval: 10 * time.Millisecond, RetryDelay: time.Second, LastID: 40,
			Listener: receivers.BlockListener{
				Failed: func(id receivers.BlockID, err error) {
					if !errors.Is(err, full) {
						t.Errorf("Failed(%v)", err)
					}
					failed = append(failed, id)
				},
				Stored: func(id receivers.BlockID, _ int) { stored = append(stored, id) },
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Generator = gen
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.store(t, 1, 2)
		b.advance(10)
		b.advance(999)
		if len(tries) != 1 {
			t.Errorf("%d tries before the retry delay", len(tries))
		}
		b.advance(1)
		b.advance(1000)
		b.stop(t)
		id := []receivers.BlockID{41, 41, 41}
		if !slices.Equal(tries, id) || !slices.Equal(failed, id[:2]) || !slices.Equal(stored, id[:1]) {
			t.Errorf("tries %v, failed %v, stored %v", tries, failed, stored)
		}
		if diff := cmp.Diff([]int{1, 2}, b.blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

func TestGenerator_stop_says_what_was_lost_when_its_context_ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		b := &bench{}
		b.blocks.Before = func(context.Context, receivers.Block[int]) error { return full }
		gen, _ := receivers.NewGenerator(3, &b.blocks, receivers.GeneratorOptions{
			Clock: &b.clock, BlockInterval: 10 * time.Millisecond, BlockQueue: 1, MaxBlockRecords: 2,
		})
		b.Generator = gen
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		// One block being tried, one in the queue, one waiting for the queue, one being filled.
		for range 3 {
			b.store(t, 1, 2)
			b.advance(10)
		}
		b.store(t, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := b.Stop(ctx)
		lost, ok := errors.AsType[*receivers.LostError](err)
		if !ok || lost.Records != 7 || lost.Blocks != 4 || lost.Stream != 3 {
			t.Errorf("Stop = %v, want 7 records in 4 blocks lost", err)
		}
		if again := b.Stop(t.Context()); again != err {
			t.Errorf("second Stop = %v, want the same error", again)
		}
	})
}

func TestGenerator_holds_a_bounded_number_of_records(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		b := &bench{}
		b.blocks.Before = func(context.Context, receivers.Block[int]) error { <-hold; return nil }
		gen, _ := receivers.NewGenerator(3, &b.blocks, receivers.GeneratorOptions{
			Clock: &b.clock, BlockInterval: 10 * time.Millisecond, BlockQueue: 2, MaxBlockRecords: 5,
		})
		b.Generator = gen
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var accepted int
		ctx, cancel := context.WithCancel(t.Context())
		var storing sync.WaitGroup
		storing.Go(func() {
			for b.Store(ctx, accepted+1) == nil {
				accepted++
			}
		})
		synctest.Wait() // the first block is full
		for range 100 {
			b.advance(10)
		}
		if want := (2 + 3) * 5; accepted != want {
			t.Errorf("accepted %d records while the block store waits, want %d", accepted, want)
		}
		cancel()
		storing.Wait()
		close(hold)
		b.stop(t)
		if diff := cmp.Diff(upTo(accepted), b.blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

func TestGenerator_stop_releases_a_store_that_waits_for_room(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, receivers.GeneratorOptions{MaxBlockRecords: 2})
		b.store(t, 1, 2)
		waited := make(chan error, 1)
		go func() { waited <- b.Store(t.Context(), 3) }()
		synctest.Wait()
		b.stop(t)
		if err := <-waited; !errors.Is(err, receivers.ErrNotActive) {
			t.Errorf("Store = %v", err)
		}
		if diff := cmp.Diff([]int{1, 2}, b.blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

func TestGenerator_keeps_records_of_one_call_together(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, receivers.GeneratorOptions{MaxBlockRecords: 4})
		b.store(t, 1, 2)
		var storing sync.WaitGroup
		storing.Go(func() {
			for _, records := range [][]int{{3, 4, 5}, {1, 2, 3, 4, 5, 6}, {}} {
				if err := b.StoreAllThen(t.Context(), records, func() {}); err != nil {
					t.Error(err)
				}
			}
		})
		for range 3 {
			synctest.Wait()
			b.advance(10)
		}
		storing.Wait()
		b.stop(t)
		var got [][]int
		for _, block := range b.blocks.All() {
			got = append(got, block.Records)
		}
		if diff := cmp.Diff([][]int{{1, 2}, {3, 4, 5}, {1, 2, 3, 4, 5, 6}}, got); diff != "" {
			t.Errorf("blocks (-want +got):\n%s", diff)
		}
	})
}

func TestGenerator_waits_for_the_rate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, receivers.GeneratorOptions{BlockInterval: time.Second, MaxRate: 10, InitialRate: 2})
		ctx, cancel := context.WithCancel(t.Context())
		accepted := 0
		var storing sync.WaitGroup
		storing.Go(func() {
			for b.Store(ctx, 0) == nil {
				accepted++
			}
		})
		var got []int
		step := func(ms int) {
			for range ms {
				b.advance(1)
			}
			got = append(got, accepted)
		}
		synctest.Wait()
		step(1000)
		b.SetRate(50) // above the maximum
		step(500)     // the wait under the old rate ends here, and no burst follows it
		step(1000)
		if b.Rate() != 10 {
			t.Errorf("Rate = %d", b.Rate())
		}
		if diff := cmp.Diff([]int{3, 4, 14}, got); diff != "" {
			t.Errorf("records accepted (-want +got):\n%s", diff)
		}
		cancel()
		storing.Wait()
		b.stop(t)
	})
}

func TestGenerator_starts_once(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, receivers.GeneratorOptions{})
		if err := b.Start(t.Context()); !errors.Is(err, receivers.ErrStarted) {
			t.Errorf("second Start = %v", err)
		}
		b.stop(t)
		fresh, _ := receivers.NewGenerator(0, &b.blocks, receivers.GeneratorOptions{})
		if err := fresh.Stop(t.Context()); err != nil {
			t.Errorf("Stop before Start = %v", err)
		}
		if err := fresh.Start(t.Context()); !errors.Is(err, receivers.ErrStarted) {
			t.Errorf("Start after Stop = %v", err)
		}
	})
}

func TestGenerator_refuses_options_that_cannot_be_used(t *testing.T) {
	opts := receivers.GeneratorOptions{BlockInterval: time.Microsecond, BlockQueue: -1, MaxBlockRecords: -1, RetryDelay: -1}
	if _, err := receivers.NewGenerator[int](0, nil, opts); err == nil {
		t.Fatal("NewGenerator took them")
	} else if n := len(err.(interface{ Unwrap() []error }).Unwrap()); n != 4 {
		t.Errorf("%d errors, want 4: %v", n, err)
	}
	if err := (receivers.Options{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}

// Whatever stores, clock moves, failures and sizes come together: each accepted record is in one block, in order, and
// ids grow.
func TestGenerator_neither_loses_nor_doubles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		opts := receivers.GeneratorOptions{
			BlockQueue:      rapid.IntRange(1, 3).Draw(rt, "queue"),
			MaxBlockRecords: rapid.IntRange(1, 7).Draw(rt, "max"),
			RetryDelay:      time.Millisecond,
		}
		steps := rapid.SliceOfN(rapid.IntRange(0, 25), 0, 40).Draw(rt, "steps")
		fail := rapid.SliceOfN(rapid.Bool(), 0, 20).Draw(rt, "failures")
		synctest.Test(t, func(t *testing.T) {
			b := &bench{}
			b.blocks.Before = func(context.Context, receivers.Block[int]) error {
				if len(fail) == 0 {
					return nil
				}
				failed := fail[0]
				fail = fail[1:]
				if failed {
					return errors.New("no")
				}
				return nil
			}
			opts.Clock, opts.BlockInterval = &b.clock, 10*time.Millisecond
			b.Generator, _ = receivers.NewGenerator(1, &b.blocks, opts)
			if err := b.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			accepted := 0
			var storing sync.WaitGroup
			ctx, cancel := context.WithCancel(t.Context())
			records := make(chan struct{})
			storing.Go(func() {
				for range records {
					if b.Store(ctx, accepted+1) == nil {
						accepted++
					}
				}
			})
			for _, step := range steps {
				if step < 15 {
					select {
					case records <- struct{}{}:
					default: // the last Store is still waiting
					}
					synctest.Wait()
				} else {
					b.advance(int64(step - 14))
				}
			}
			cancel()
			close(records)
			storing.Wait()
			var stopping sync.WaitGroup
			stopping.Go(func() { b.stop(t) })
			for range 50 { // let the retries of the flush pass
				b.advance(1)
			}
			stopping.Wait()
			if !slices.Equal(b.blocks.Records(), upTo(accepted)) {
				t.Errorf("accepted %d, stored %v", accepted, b.blocks.Records())
			}
			last := receivers.BlockID(0)
			for _, block := range b.blocks.All() {
				if block.ID <= last || len(block.Records) == 0 || len(block.Records) > opts.MaxBlockRecords {
					t.Errorf("block %d after %d with %d records", block.ID, last, len(block.Records))
				}
				last = block.ID
			}
		})
	})
}

package receivers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/receiverstest"
)

// events notes what a supervisor tells its listener, with the time.
type events struct {
	clock *receiverstest.Clock
	mu    sync.Mutex
	notes []string
}

func (e *events) note(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notes = append(e.notes, fmt.Sprintf("@%d ", e.clock.Now())+fmt.Sprintf(format, args...))
}

func (e *events) listener() receivers.Listener {
	return receivers.Listener{
		Started: func(stream int32, attempt int) { e.note("started %d/%d", stream, attempt) },
		Error:   func(stream int32, err error) { e.note("error %d: %v", stream, err) },
		Stopped: func(stream int32, attempt int, err error) { e.note("stopped %d/%d: %v", stream, attempt, err) },
	}
}

// supervised is a supervisor running on a manual clock, inside a bubble.
type supervised struct {
	*receivers.Supervisor[int]
	clock  receiverstest.Clock
	blocks receiverstest.Blocks[int]
	events events
	cancel context.CancelFunc
	ended  chan error
}

func supervise(t *testing.T, s *supervised, receiver receivers.Func[int], opts receivers.Options) *supervised {
	s.events.clock = &s.clock
	opts.Clock, opts.Listener = &s.clock, s.events.listener()
	sup, err := receivers.NewSupervisor(7, receiver, &s.blocks, opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Supervisor = sup
	ctx, cancel := context.WithCancel(t.Context())
	s.cancel, s.ended = cancel, make(chan error, 1)
	go func() { s.ended <- sup.Run(ctx) }()
	synctest.Wait()
	return s
}

func (s *supervised) advance(d int64) {
	s.clock.Advance(d)
	synctest.Wait()
}

func (s *supervised) stop() error {
	s.cancel()
	return <-s.ended
}

func TestSupervisor_R6_restarts_after_the_delay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reset := errors.New("connection reset")
		attempt := 0
		s := supervise(t, &supervised{}, func(ctx context.Context, sink receivers.Sink[int]) error {
			switch attempt++; attempt {
			case 1:
				return reset
			case 2:
				return &receivers.RestartError{Delay: 5 * time.Second, Err: reset}
			case 3:
				return &receivers.RestartError{Err: reset}
			}
			<-ctx.Done()
			return fmt.Errorf("wait: %w", ctx.Err())
		}, receivers.Options{RestartDelay: 100 * time.Millisecond})
		s.advance(99)
		if attempt != 1 {
			t.Errorf("started again before the delay")
		}
		s.advance(1)
		s.advance(4999)
		s.advance(1)
		if err := s.stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		want := []string{
			"@0 started 7/1", "@0 stopped 7/1: connection reset",
			"@100 started 7/2", "@100 stopped 7/2: connection reset (start again after 5s)",
			"@5100 started 7/3", "@5100 stopped 7/3: connection reset (start again after 0s)",
			"@5100 started 7/4", "@5100 stopped 7/4: <nil>",
		}
		if diff := cmp.Diff(want, s.events.notes); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if err := s.Run(t.Context()); !errors.Is(err, receivers.ErrStarted) {
			t.Errorf("second Run = %v", err)
		}
	})
}

func TestSupervisor_R7_starts_a_receiver_that_ended_by_itself_again(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		s := supervise(t, &supervised{}, func(ctx context.Context, sink receivers.Sink[int]) error {
			attempts++
			return sink.Store(ctx, attempts)
		}, receivers.Options{})
		for range 5 {
			s.advance(2000)
		}
		if err := s.stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		if attempts != 6 {
			t.Errorf("%d attempts, want 6 in 10 s", attempts)
		}
		if diff := cmp.Diff(upTo(6), s.blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

func TestSupervisor_turns_a_panic_into_an_error_and_goes_on(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		var got error
		s := &supervised{}
		s.events.clock = &s.clock
		sup, err := receivers.NewSupervisor(7, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
			if attempts++; attempts == 1 {
				_ = sink.Store(ctx, 1)
				panicAtTheSource()
			}
			_ = sink.Store(ctx, 2)
			<-ctx.Done()
			return nil
		}), &s.blocks, receivers.Options{Clock: &s.clock, Listener: receivers.Listener{
			Stopped: func(_ int32, attempt int, err error) {
				if attempt == 1 {
					got = err
				}
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- sup.Run(ctx) }()
		synctest.Wait()
		s.advance(2000)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
		panicked, ok := errors.AsType[*receivers.PanicError](got)
		if !ok || panicked.Stream != 7 || !errors.Is(got, io.ErrUnexpectedEOF) || !strings.Contains(string(panicked.Stack), "panicAtTheSource") {
			t.Errorf("first attempt ended with %v", got)
		}
		if diff := cmp.Diff([]int{1, 2}, s.blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

func panicAtTheSource() { panic(io.ErrUnexpectedEOF) }

// D5: the receiver stops first, then what it stored is flushed, then Run returns.
func TestSupervisor_D5_flushes_after_the_receiver_has_stopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &supervised{}
		s.blocks.Before = func(_ context.Context, block receivers.Block[int]) error {
			s.events.note("put %v", block.Records)
			return nil
		}
		supervise(t, s, func(ctx context.Context, sink receivers.Sink[int]) error {
			_ = sink.Store(ctx, 1)
			<-ctx.Done()
			// A last word, with a context of its own.
			return sink.Store(context.WithoutCancel(ctx), 2)
		}, receivers.Options{})
		if err := s.stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		want := []string{"@0 started 7/1", "@0 stopped 7/1: <nil>", "@0 put [1 2]"}
		if diff := cmp.Diff(want, s.events.notes); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestSupervisor_R14_counts_the_records_of_a_block(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &encodedBlocks{}
		sup, err := receivers.NewSupervisor(2, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
			if err := sink.(receivers.EncodedSink).StoreEncoded(ctx, []byte("abc")); err != nil {
				t.Error(err)
			}
			if err := sink.StoreBlock(ctx, upTo(25)); err != nil {
				t.Error(err)
			}
			if err := receivers.StoreSeq(ctx, sink, slices.Values(upTo(100))); err != nil {
				t.Error(err)
			}
			for _, nothing := range []error{
				sink.StoreBlock(ctx, nil),
				receivers.StoreSeq(ctx, sink, slices.Values([]int{})),
				sink.(receivers.EncodedSink).StoreEncoded(ctx, nil),
			} {
				if nothing != nil {
					t.Errorf("storing nothing: %v", nothing)
				}
			}
			<-ctx.Done()
			return nil
		}), store, receivers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- sup.Run(ctx) }()
		synctest.Wait()
		cancel()
		<-ended
		if len(store.encoded) != 1 || store.encoded[0].Count() != receivers.UnknownCount || string(store.encoded[0].Payload) != "abc" {
			t.Errorf("encoded blocks: %v", store.encoded)
		}
		var counts []int64
		last := store.encoded[0].ID
		for _, block := range store.All() {
			counts = append(counts, block.Count())
			if block.ID <= last || block.Stream != 2 {
				t.Errorf("block %d of stream %d after block %d", block.ID, block.Stream, last)
			}
			last = block.ID
		}
		if diff := cmp.Diff([]int64{25, 100}, counts); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
}

type encodedBlocks struct {
	receiverstest.Blocks[int]
	encoded []receivers.EncodedBlock
}

func (b *encodedBlocks) PutEncoded(_ context.Context, block receivers.EncodedBlock) error {
	b.encoded = append(b.encoded, block)
	return nil
}

func TestSink_passes_a_failed_block_to_the_receiver_and_reports_errors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("log refused")
		s := &supervised{}
		s.blocks.Before = func(context.Context, receivers.Block[int]) error { return refused }
		var direct, encoded error
		supervise(t, s, func(ctx context.Context, sink receivers.Sink[int]) error {
			direct = sink.StoreBlock(ctx, upTo(2))
			encoded = sink.(receivers.EncodedSink).StoreEncoded(ctx, []byte{1})
			sink.ReportError(errors.New("a bad line"))
			sink.ReportError(nil)
			<-ctx.Done()
			return nil
		}, receivers.Options{})
		if err := s.stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		if !errors.Is(direct, refused) {
			t.Errorf("StoreBlock = %v", direct)
		}
		if !errors.Is(encoded, receivers.ErrEncodedUnsupported) {
			t.Errorf("StoreEncoded = %v", encoded)
		}
		if !slices.Contains(s.events.notes, "@0 error 7: a bad line") {
			t.Errorf("events: %v", s.events.notes)
		}
	})
}

func TestSink_closes_when_its_receiver_returns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var old receivers.Sink[int]
		var oldContext context.Context
		s := supervise(t, &supervised{}, func(ctx context.Context, sink receivers.Sink[int]) error {
			if old == nil {
				old, oldContext = sink, ctx
				return nil
			}
			<-ctx.Done()
			return nil
		}, receivers.Options{})
		s.advance(2000)
		ctx := t.Context()
		for _, err := range []error{old.Store(ctx, 1), old.StoreBlock(ctx, upTo(1)), old.(receivers.EncodedSink).StoreEncoded(ctx, nil)} {
			if !errors.Is(err, receivers.ErrSinkClosed) {
				t.Errorf("after Receive returned: %v", err)
			}
		}
		if oldContext.Err() == nil {
			t.Error("the context of a Receive that returned has not ended")
		}
		_ = s.stop()
	})
}

func TestSupervisor_gives_up_the_flush_after_its_timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &supervised{}
		s.blocks.Before = func(ctx context.Context, _ receivers.Block[int]) error {
			<-ctx.Done()
			return ctx.Err()
		}
		supervise(t, s, func(ctx context.Context, sink receivers.Sink[int]) error {
			_ = sink.Store(ctx, 1)
			<-ctx.Done()
			return nil
		}, receivers.Options{FlushTimeout: time.Minute})
		began := time.Now()
		err := s.stop()
		if lost, ok := errors.AsType[*receivers.LostError](err); !ok || lost.Records != 1 {
			t.Errorf("Run = %v", err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("flush took %v", took)
		}
	})
}

func TestSupervisor_without_a_flush_timeout_waits_for_the_block_store(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &supervised{}
		s.blocks.Before = func(ctx context.Context, _ receivers.Block[int]) error {
			return receivers.SystemClock{}.WaitUntil(ctx, time.Now().Add(24*time.Hour).UnixMilli())
		}
		supervise(t, s, func(ctx context.Context, sink receivers.Sink[int]) error {
			_ = sink.Store(ctx, 1)
			<-ctx.Done()
			return nil
		}, receivers.Options{FlushTimeout: -1})
		if err := s.stop(); err != nil || len(s.blocks.All()) != 1 {
			t.Errorf("Run = %v with %d blocks stored", err, len(s.blocks.All()))
		}
	})
}

// The source is a counter that goes on where the last accepted record was; failures of every kind come between.
func TestSupervisor_neither_loses_nor_doubles_over_restarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next, attempts, puts := 1, 0, 0
		s := &supervised{}
		s.blocks.Before = func(context.Context, receivers.Block[int]) error {
			if puts++; puts%3 == 0 {
				return errors.New("no")
			}
			return nil
		}
		supervise(t, s, func(ctx context.Context, sink receivers.Sink[int]) error {
			attempts++
			for range 10 {
				if err := sink.Store(ctx, next); err != nil {
					return err
				}
				next++
			}
			switch attempts % 3 {
			case 0:
				panic("source")
			case 1:
				return errors.New("source")
			}
			return nil
		}, receivers.Options{Generator: receivers.GeneratorOptions{MaxBlockRecords: 7, MaxRate: 200}})
		for range 1000 {
			s.advance(10)
		}
		s.cancel()
		for range 100 { // the retries of the flush
			s.advance(1000)
		}
		if err := <-s.ended; err != nil {
			t.Errorf("Run = %v", err)
		}
		if attempts < 3 || next < 30 {
			t.Errorf("only %d attempts and %d records", attempts, next-1)
		}
		if diff := cmp.Diff(upTo(next-1), s.blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

func TestSystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock receivers.SystemClock
		target := clock.Now() + 1500
		if err := clock.WaitUntil(t.Context(), target); err != nil || clock.Now() != target {
			t.Errorf("WaitUntil = %v at %d, want %d", err, clock.Now(), target)
		}
		if err := clock.WaitUntil(t.Context(), target-1); err != nil || clock.Now() != target {
			t.Errorf("WaitUntil a time gone by = %v at %d", err, clock.Now())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := clock.WaitUntil(ctx, target+5000); !errors.Is(err, context.DeadlineExceeded) || clock.Now() != target+1000 {
			t.Errorf("WaitUntil = %v at %d", err, clock.Now())
		}
	})
}

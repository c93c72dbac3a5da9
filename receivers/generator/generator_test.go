package generator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/generator"
	"github.com/leat-io/leat/receivers/receiverstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func square(i int64) int64 { return i * i }

func ExampleNew() {
	squares, err := generator.New(func(i int64) int64 { return i * i }, generator.Options{Limit: 5, From: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var sink receiverstest.Sink[int64]
	done := make(chan error, 1)
	go func() { done <- squares.Receive(ctx, &sink) }()
	_ = sink.Wait(ctx, 4)
	cancel()
	<-done
	fmt.Println(sink.Records(), squares.Next())
	// Output: [1 4 9 16] 5
}

func TestReceiver(t *testing.T) {
	want := []int64{0, 1, 4, 9, 16, 25, 36, 49}
	for _, test := range []struct {
		name  string
		opts  generator.Options
		ahead int
	}{
		{name: "no rate"},
		{name: "rate", opts: generator.Options{Rate: 3}},
		{name: "limit", opts: generator.Options{Limit: 8}},
		{name: "blocks", opts: generator.Options{BlockSize: 3, Rate: 7}, ahead: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			receiverstest.Run(t, func(t *testing.T) receiverstest.Source[int64] {
				made := 0
				r, err := generator.New(func(i int64) int64 { made++; return square(i) }, test.opts)
				if err != nil {
					t.Fatal(err)
				}
				return receiverstest.Source[int64]{Receiver: r, Want: want, Read: func() int { return made }, Ahead: test.ahead, Resumes: true}
			})
		})
	}
}

func receive(t *testing.T, r *generator.Receiver[int64], sink receivers.Sink[int64]) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Receive(ctx, sink) }()
	return func() error {
		cancel()
		return <-done
	}
}

func TestReceive_stores_each_record_when_it_is_due(t *testing.T) {
	for _, test := range []struct {
		name string
		opts generator.Options
		at   map[int64]int // records taken at that time after the start
	}{
		{"one by one", generator.Options{Rate: 4}, map[int64]int{0: 1, 249: 1, 250: 2, 999: 4, 1000: 5, 3600_000: 14401}},
		{"in blocks", generator.Options{Rate: 4, BlockSize: 3}, map[int64]int{0: 0, 499: 0, 500: 3, 1249: 3, 1250: 6}},
		{"above the clock's grain", generator.Options{Rate: 3000}, map[int64]int{0: 3, 1: 6, 1000: 3003}},
		{"to the limit", generator.Options{Rate: 10, Limit: 7}, map[int64]int{0: 1, 500: 6, 600: 7, 10_000: 7}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var clock receiverstest.Clock
				clock.Set(77)
				test.opts.Clock = &clock
				r, err := generator.New(square, test.opts)
				if err != nil {
					t.Fatal(err)
				}
				var sink receiverstest.Sink[int64]
				stop := receive(t, r, &sink)
				got := map[int64]int{}
				times := make([]int64, 0, len(test.at))
				for at := range test.at {
					times = append(times, at)
				}
				slices.Sort(times)
				for _, at := range times {
					clock.Set(77 + at)
					synctest.Wait()
					got[at] = len(sink.Records())
				}
				if err := stop(); !errors.Is(err, context.Canceled) {
					t.Errorf("Receive = %v", err)
				}
				if diff := cmp.Diff(test.at, got); diff != "" {
					t.Errorf("records by time (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestReceive_goes_on_after_a_refusal_without_gap_or_double(t *testing.T) {
	for _, blockSize := range []int{0, 4} {
		t.Run(fmt.Sprintf("block size %d", blockSize), func(t *testing.T) {
			r, err := generator.New(square, generator.Options{BlockSize: blockSize})
			if err != nil {
				t.Fatal(err)
			}
			refusal := errors.New("full")
			offers := 0
			sink := receiverstest.Sink[int64]{}
			ctx, cancel := context.WithCancel(t.Context())
			sink.Before = func(_ context.Context, taken int) error {
				if offers++; offers%3 == 0 {
					return refusal
				}
				if taken >= 40 {
					cancel()
				}
				return nil
			}
			for ctx.Err() == nil {
				if err := r.Receive(ctx, &sink); !errors.Is(err, refusal) && !errors.Is(err, context.Canceled) {
					t.Fatalf("Receive = %v", err)
				}
			}
			records := sink.Records()
			for i, got := range records {
				if got != square(int64(i)) {
					t.Fatalf("record %d is %d, want %d", i, got, square(int64(i)))
				}
			}
			if r.Next() != int64(len(records)) {
				t.Errorf("Next = %d after %d records", r.Next(), len(records))
			}
		})
	}
}

func TestReceive_resumes_from_an_index_with_far_due_times(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := int64(math.MaxInt64 / 2)
		var clock receiverstest.Clock
		r, err := generator.New(func(i int64) int64 { return i }, generator.Options{Rate: 1000, From: from, Clock: &clock})
		if err != nil {
			t.Fatal(err)
		}
		var sink receiverstest.Sink[int64]
		stop := receive(t, r, &sink)
		synctest.Wait() // the first record is stored, so the schedule has begun
		clock.Advance(2)
		synctest.Wait()
		_ = stop()
		if diff := cmp.Diff([]int64{from, from + 1, from + 2}, sink.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

func TestNew_refuses_negative_options(t *testing.T) {
	for _, opts := range []generator.Options{{Rate: -1}, {Limit: -1}, {From: -1}, {BlockSize: -1}} {
		_, err := generator.New(square, opts)
		if _, ok := errors.AsType[*receivers.OptionError](err); !ok {
			t.Errorf("New(%v) = %v, want an OptionError", opts, err)
		}
	}
}

type discard struct{ n int64 }

func (d *discard) Store(ctx context.Context, _ int64) error {
	if d.n--; d.n <= 0 {
		return context.Canceled
	}
	return nil
}
func (d *discard) StoreBlock(context.Context, []int64) error { return nil }
func (d *discard) ReportError(error)                         {}

func BenchmarkReceive(b *testing.B) {
	const n = 10_000
	b.Run("receiver", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, _ := generator.New(square, generator.Options{})
			_ = r.Receive(b.Context(), &discard{n: n})
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	})
	b.Run("plain loop", func(b *testing.B) {
		var sum int64
		b.ReportAllocs()
		for b.Loop() {
			for i := range int64(n) {
				sum += square(i)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	})
}

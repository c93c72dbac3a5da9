package streamtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// TestWindowedCounts is the test of a program as its author would write it.
func TestWindowedCounts(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	words := streamtest.Input[string](kit)
	counts := streamtest.Collect(kit, dstream.CountByWindow(words.Stream(), 2*time.Second, time.Second))
	words.Push("ada", "bo")
	kit.Advance(1)
	words.Push("ada")
	kit.Advance(2)
	if got, want := counts.Batches(), [][]int64{{2}, {3}, {1}}; !cmp.Equal(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
}

func TestTheEnginesGiveTheSame(t *testing.T) {
	program := func(o streamingcontext.EngineOptions) [][]rdd.Pair[string, int64] {
		kit := streamtest.New(t, streamtest.Options{Engine: o, Partitions: 3})
		words := streamtest.Input[string](kit)
		counts := streamtest.Collect(kit, dstream.CountByValue(words.Stream(), rdd.NumPartitions(4)))
		for i := range 5 {
			for k := range 50 {
				words.Push(fmt.Sprint(k * i % 7))
			}
			kit.Advance(1)
		}
		return counts.Batches()
	}
	want := program(streamingcontext.EngineOptions{})
	for _, o := range []streamingcontext.EngineOptions{{}, {Executors: 3, Cores: 1}, {Executors: 2, Isolate: true}} {
		if diff := cmp.Diff(program(o), want); diff != "" {
			t.Errorf("%v (-got +want):\n%s", o, diff)
		}
	}
}

func TestOutputTellsEmptyFromAbsent(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{Interval: 500 * time.Millisecond})
	in := streamtest.Input[int](kit)
	every := streamtest.Collect(kit, in.Stream())
	second := streamtest.Collect(kit, dstream.Window(in.Stream(), time.Second, time.Second))
	in.Push(1)
	kit.Advance(3)
	if got := every.Batch(2); got == nil || len(got) != 0 {
		t.Errorf("batch without records: %#v", got)
	}
	if got := second.Batch(1); got != nil {
		t.Errorf("batch without an RDD: %#v", got)
	}
	if got := second.At(kit.Time(2)); !slices.Equal(got, []int{1}) {
		t.Errorf("window %v", got)
	}
	if got := second.Times(); !slices.Equal(got, []dstream.Time{1000}) {
		t.Errorf("times %v", got)
	}
	if kit.Now() != 1500 {
		t.Errorf("now %v", kit.Now())
	}
}

func TestTryAdvance(t *testing.T) {
	t.Run("returns what fails a batch", func(t *testing.T) {
		kit := streamtest.New(t, streamtest.Options{})
		broken := errors.New("broken")
		dstream.ForeachRDD(streamtest.Input[int](kit).Stream(), func(context.Context, *rdd.RDD[int], dstream.Time) error { return broken })
		if err := kit.TryAdvance(1); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("returns what Start refuses", func(t *testing.T) {
		kit := streamtest.New(t, streamtest.Options{})
		streamtest.Input[int](kit)
		if err := kit.TryAdvance(1); !errors.Is(err, dstream.ErrNoOutputOps) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("gives up after the timeout", func(t *testing.T) {
		kit := streamtest.New(t, streamtest.Options{Timeout: time.Millisecond})
		dstream.ForeachRDD(streamtest.Input[int](kit).Stream(), func(ctx context.Context, _ *rdd.RDD[int], _ dstream.Time) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if err := kit.TryAdvance(1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// failing is a test that notes how it failed instead of failing.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Errorf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

func (f *failing) Fatalf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

func TestAdvanceFailsTheTest(t *testing.T) {
	f := &failing{TB: t}
	kit := streamtest.New(f, streamtest.Options{})
	dstream.ForeachRDD(streamtest.Input[int](kit).Stream(), func(context.Context, *rdd.RDD[int], dstream.Time) error { panic("no") })
	kit.Advance(1)
	if !strings.Contains(f.said, "advance to batch 1: ") || !strings.Contains(f.said, "panic: no") {
		t.Errorf("the test said %q", f.said)
	}
}

func TestABatchThatIsMadeAgainHasTheSameRecords(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	in := streamtest.Input[int](kit)
	if err := kit.Context().Remember(time.Minute); err != nil {
		t.Fatal(err)
	}
	streamtest.Collect(kit, in.Stream())
	in.Push(1, 2)
	kit.Advance(3)
	rdds, err := dstream.Slice(in.Stream(), 1000, 1000)
	if err != nil || len(rdds) != 1 {
		t.Fatalf("slice %v, %v", rdds, err)
	}
	if rows, err := rdds[0].Collect(t.Context()); err != nil || !slices.Equal(rows, []int{1, 2}) {
		t.Errorf("records %v, %v", rows, err)
	}
}

func TestEventsOfAKit(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) {
		o.OnFailure = streamingcontext.FailurePolicy{Then: streamingcontext.SetAside}
	}})
	in := streamtest.Input[int](kit)
	broken := errors.New("broken")
	dstream.ForeachRDD(in.Stream(), func(_ context.Context, _ *rdd.RDD[int], at dstream.Time) error {
		if at == kit.Time(2) {
			return broken
		}
		return nil
	})
	kit.Advance(1)
	if err := kit.TryAdvance(1); !errors.Is(err, broken) {
		t.Errorf("advance: %v", err)
	}
	want := []string{"batch 1 submitted", "batch 1 started", "batch 1 output 0 started", "batch 1 output 0 completed", "batch 1 completed",
		"batch 2 submitted", "batch 2 started", "batch 2 output 0 started", "batch 2 output 0 failed", "batch 2 failed", "batch 2 set aside"}
	kit.AssertEvents(want...)
	kit.AssertOrder("streaming started", "batch 1 completed", "batch 2 failed")
	events := kit.Events()
	if last := events[len(events)-1]; last.Batch != 2 || !errors.Is(last.Err, broken) || last.String() != last.Text {
		t.Errorf("last event %+v", last)
	}

	f := &failing{TB: t}
	other := streamtest.New(f, streamtest.Options{})
	streamtest.Collect(other, streamtest.Input[int](other).Stream())
	other.Advance(1)
	for what, assert := range map[string]func(){
		"-got +want": func() { other.AssertEvents("batch 1 submitted") },
		"no \"batch 1 started\" behind the first 6": func() { other.AssertOrder("batch 1 completed", "batch 1 started") },
		"no \"batch 2 started\"":                    func() { other.AssertOrder("batch 2 started") },
	} {
		f.said = ""
		if assert(); !strings.Contains(f.said, what) {
			t.Errorf("the test said %q, want %q", f.said, what)
		}
	}
}

// Event by event: the test looks at a batch while its output runs.
func TestStepByStep(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	in := streamtest.Input[int](kit)
	gate := make(chan bool)
	dstream.ForeachRDD(dstream.Window(in.Stream(), 2*time.Second, 2*time.Second), func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		<-gate
		_, err := r.Count(ctx)
		return err
	})
	// Batch 1 has no job, and so no events: Step makes batch 2 as well.
	for _, want := range []string{"streaming started", "batch 2 submitted", "batch 2 started", "batch 2 output 0 started"} {
		if got := kit.Step(); got.Text != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if got := kit.Context().Pending(); !slices.Equal(got, []dstream.Time{2000}) {
		t.Errorf("pending %v", got)
	}
	gate <- true
	if got := kit.Step(); got.Text != "batch 2 output 0 completed" {
		t.Errorf("got %q", got)
	}
	kit.AwaitText("batch 2 completed")
	kit.Tick()
	kit.Tick()
	gate <- true
	if got := kit.AwaitEvent(func(e streamtest.Event) bool { return e.Batch == 4 && strings.HasSuffix(e.Text, "completed") }); got.Text != "batch 4 output 0 completed" {
		t.Errorf("got %q", got)
	}
}

func TestEventsThatDoNotCome(t *testing.T) {
	f := &failing{TB: t}
	kit := streamtest.New(f, streamtest.Options{Timeout: 20 * time.Millisecond})
	streamtest.Collect(kit, streamtest.Input[int](kit).Stream())
	kit.AwaitText("batch 1 completed") // the clock stands still
	if !strings.Contains(f.said, "no such event in 20ms") {
		t.Errorf("the test said %q", f.said)
	}
	ended := streamtest.New(f, streamtest.Options{})
	dstream.ForeachRDD(streamtest.Input[int](ended).Stream(), func(context.Context, *rdd.RDD[int], dstream.Time) error { return errors.New("broken") })
	for range 20 {
		if ended.Step(); f.said != "" && strings.Contains(f.said, "broken") {
			return
		}
	}
	t.Errorf("the test said %q", f.said)
}

func counts(r *rdd.RDD[int]) *rdd.RDD[rdd.Pair[int, int64]] { return rdd.Counts(r) }

func TestEquivalent(t *testing.T) {
	input := make([]int, 100)
	for i := range input {
		input[i] = i * i % 17
	}
	t.Run("rows of all batches", func(t *testing.T) {
		streamtest.Equivalent(t, input,
			func(r *rdd.RDD[int]) *rdd.RDD[int] { return rdd.Map(r, func(x int) int { return x + 1 }) },
			func(s *dstream.DStream[int]) *dstream.DStream[int] {
				return dstream.Map(s, func(x int) int { return x + 1 })
			},
			streamtest.EquivalenceOptions{Cuts: 5})
	})
	t.Run("last batch", func(t *testing.T) {
		streamtest.Equivalent(t, input, counts, func(s *dstream.DStream[int]) *dstream.DStream[rdd.Pair[int, int64]] {
			pairs := dstream.Map(s, func(x int) rdd.Pair[int, int64] { return rdd.Pair[int, int64]{Key: x, Value: 1} })
			return dstream.UpdateStateByKey(pairs, func(values []int64, old rdd.Option[int64]) rdd.Option[int64] {
				return rdd.Option[int64]{Value: old.Value + int64(len(values)), OK: true}
			})
		}, streamtest.EquivalenceOptions{Cuts: 5, LastBatch: true})
	})
	for what, c := range map[string]struct {
		stream func(*dstream.DStream[int]) *dstream.DStream[rdd.Pair[int, int64]]
		opts   streamtest.EquivalenceOptions
		batch  func(*rdd.RDD[int]) *rdd.RDD[rdd.Pair[int, int64]]
	}{
		"seed 1: the stream differs from the batch": {batch: counts, stream: func(s *dstream.DStream[int]) *dstream.DStream[rdd.Pair[int, int64]] {
			return dstream.CountByValue(s) // each batch counts anew
		}},
		"partitions, seed 7: the stream differs": {batch: counts, opts: streamtest.EquivalenceOptions{Seed: 7, LastBatch: true, MaxBatches: 5, Partitions: []int{3}},
			stream: func(s *dstream.DStream[int]) *dstream.DStream[rdd.Pair[int, int64]] {
				return dstream.CountByValueAndWindow(s, 3*time.Second, time.Second) // forgets what is older
			}},
		"stream: batch": {batch: counts, stream: func(s *dstream.DStream[int]) *dstream.DStream[rdd.Pair[int, int64]] {
			return dstream.Map(s, func(int) rdd.Pair[int, int64] { panic("no") })
		}},
		"batch: ": {stream: func(s *dstream.DStream[int]) *dstream.DStream[rdd.Pair[int, int64]] { return dstream.CountByValue(s) },
			batch: func(r *rdd.RDD[int]) *rdd.RDD[rdd.Pair[int, int64]] {
				return rdd.Map(r, func(int) rdd.Pair[int, int64] { panic("no") })
			}},
	} {
		t.Run(what, func(t *testing.T) {
			f := &failing{TB: t}
			streamtest.Equivalent(f, input, c.batch, c.stream, c.opts)
			if !strings.Contains(f.said, what) || !strings.Contains(f.said, "batches end at rows [") {
				t.Errorf("the test said %q", f.said)
			}
		})
	}
}

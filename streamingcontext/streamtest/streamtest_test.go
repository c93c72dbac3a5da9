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

package hostile

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/queue"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// batchOf runs one batch of three pairs through what declare makes of them and returns the error.
func batchOf(t *testing.T, declare func(s *dstream.DStream[rdd.Pair[int, int]])) error {
	t.Helper()
	kit := streamtest.New(t, streamtest.Options{Timeout: patience / 2})
	in := streamtest.Input[rdd.Pair[int, int]](kit)
	declare(in.Stream())
	var err error
	for range 3 {
		in.Push(pairs(3, 1)...)
		if err == nil {
			err = within(t, "batch", func() error { return kit.TryAdvance(1) })
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.Error("the batch hangs")
	}
	return err
}

func TestFunctionsOfABatchThatDoNotReturn(t *testing.T) {
	type pair = rdd.Pair[int, int]
	for end, f := range map[string]func(){
		"panic": func() { panic("boom") },
		"nil":   func() { panic(nil) },
		"exit":  runtime.Goexit,
	} {
		for name, declare := range map[string]func(*dstream.DStream[pair]){
			"map": func(s *dstream.DStream[pair]) { discard(dstream.Map(s, func(p pair) pair { f(); return p })) },
			"transform": func(s *dstream.DStream[pair]) {
				discard(dstream.Transform(s, func(r *rdd.RDD[pair], _ dstream.Time) (*rdd.RDD[pair], error) { f(); return r, nil }))
			},
			"output": func(s *dstream.DStream[pair]) {
				dstream.ForeachRDD(s, func(context.Context, *rdd.RDD[pair], dstream.Time) error { f(); return nil })
			},
			"state": func(s *dstream.DStream[pair]) {
				discard(dstream.UpdateStateByKey(s, func([]int, rdd.Option[int]) rdd.Option[int] { f(); return rdd.Option[int]{} }))
			},
			"inverse": func(s *dstream.DStream[pair]) {
				discard(dstream.ReduceByKeyAndWindow(s, plus, func(int, int) int { f(); return 0 }, 2*time.Second, time.Second))
			},
			"input": func(s *dstream.DStream[pair]) {
				discard(dstream.NewInput[pair](s.Graph(), "mine", "Mine", brokenInput(f)))
			},
		} {
			t.Run(name+"/"+end, func(t *testing.T) { wantPlace(t, batchOf(t, declare)) })
		}
	}
}

// brokenInput is an input that does not give its batch.
type brokenInput func()

func (f brokenInput) RDD(c *rdd.Context, _ dstream.Time) (*rdd.RDD[rdd.Pair[int, int]], error) {
	f()
	return rdd.Empty[rdd.Pair[int, int]](c), nil
}

func TestTheGraphIsUsedInsideABatch(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{Timeout: patience / 2})
	in := streamtest.Input[int](kit)
	asked := make(chan error, 10)
	discard(dstream.Transform(in.Stream(), func(r *rdd.RDD[int], now dstream.Time) (*rdd.RDD[int], error) {
		_ = in.Stream().Info()
		_ = in.Stream().Remembered()
		asked <- dstream.Map(in.Stream(), func(x int) int { return x }).Err()
		_, err := dstream.Slice(in.Stream(), now, now)
		asked <- err
		return r, nil
	}))
	if err := within(t, "batch", func() error { return kit.TryAdvance(1) }); err != nil {
		t.Fatal(err)
	}
	if err := <-asked; !errors.Is(err, dstream.ErrContextActive) {
		t.Errorf("declared in a batch: %v", err)
	}
	if err := <-asked; !errors.Is(err, dstream.ErrInBatch) {
		t.Errorf("slice in a batch: %v", err)
	}
}

func TestListenersThatPanicOrEndTheirGoroutine(t *testing.T) {
	var told atomic.Int32
	kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) {
		o.Listeners = []streamingcontext.Listener{
			{BatchCompleted: func(streamingcontext.BatchInfo) { runtime.Goexit() }},
			{BatchCompleted: func(streamingcontext.BatchInfo) { panic("boom") }},
			{BatchCompleted: func(streamingcontext.BatchInfo) { told.Add(1) }},
		}
	}})
	in := streamtest.Input[int](kit)
	discard(in.Stream())
	kit.Advance(5)
	if err := within(t, "stop", func() error { return kit.Context().Stop(t.Context(), streamingcontext.StopOptions{}) }); err != nil {
		t.Error(err)
	}
	if told.Load() != 5 {
		t.Errorf("the third listener was told %d times, want 5", told.Load())
	}
}

func TestAListenerThatBlocks(t *testing.T) {
	release := make(chan bool)
	kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) {
		o.ListenerQueue = 3
		o.Listeners = []streamingcontext.Listener{{BatchSubmitted: func(streamingcontext.BatchInfo) { <-release }}}
	}})
	discard(streamtest.Input[int](kit).Stream())
	if err := within(t, "batches", func() error { return kit.TryAdvance(100) }); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := within(t, "stop", func() error { return kit.Context().Stop(ended, streamingcontext.StopOptions{}) }); !errors.Is(err, context.Canceled) {
		t.Errorf("stop: %v", err)
	}
	close(release)
}

func TestAQueueOfRDDsOfAnotherEngine(t *testing.T) {
	other := engine(t, streamingcontext.EngineOptions{})
	kit := streamtest.New(t, streamtest.Options{Timeout: patience / 2})
	q := &queue.Queue[*rdd.RDD[rdd.Pair[int, int]]]{}
	out := streamtest.Collect(kit, streamingcontext.QueueStream(kit.Context(), q))
	// Both are the first shuffle of their engine.
	own := rdd.ReduceByKey(rdd.Parallelize(kit.Context().RDDs(), pairs(10, 2), 2), plus).Cache()
	foreign := rdd.ReduceByKey(rdd.Parallelize(other.RDDs(), pairs(999, 3), 2), plus).Cache()
	q.Push(own)
	q.Push(foreign)
	err := within(t, "batches", func() error { return kit.TryAdvance(2) })
	if err == nil {
		if n := len(out.Batch(1)); n != 2 {
			t.Errorf("own: %d keys, want 2", n)
		}
		if n := len(out.Batch(2)); n != 3 {
			t.Errorf("foreign: %d keys %v, want 3 or an error", n, out.Batch(2))
		}
		return
	}
	wantPlace(t, err)
}

func TestRDDsOfTwoEnginesInOneOperator(t *testing.T) {
	a, b := engine(t, streamingcontext.EngineOptions{}), engine(t, streamingcontext.EngineOptions{})
	x := rdd.ReduceByKey(rdd.Parallelize(a.RDDs(), pairs(10, 2), 2), plus)
	y := rdd.ReduceByKey(rdd.Parallelize(b.RDDs(), pairs(10, 5), 2), plus)
	for name, run := range map[string]func() (int64, error){
		"union": func() (int64, error) { return x.Union(y).Count(t.Context()) },
		"join":  func() (int64, error) { return rdd.CoGroup(x, y).Count(t.Context()) },
		"zip":   func() (int64, error) { return rdd.Cartesian(x, y).Count(t.Context()) },
	} {
		var n int64
		err := within(t, name, func() (err error) { n, err = run(); return err })
		want := map[string]int64{"union": 7, "join": 5, "zip": 10}[name]
		if err == nil && n != want {
			t.Errorf("%s: %d records, want %d or an error", name, n, want)
		}
		if err != nil {
			wantPlace(t, err)
		}
	}
}

func TestTheClockGoesBackwards(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	in := streamtest.Input[int](kit)
	out := streamtest.Collect(kit, in.Stream())
	in.Push(1)
	kit.Advance(2)
	kit.Clock().Set(-5000)
	kit.Clock().Set(500)
	in.Push(2)
	kit.Advance(2)
	if got, want := out.Times(), []dstream.Time{1000, 2000, 3000, 4000}; !slices.Equal(got, want) {
		t.Errorf("batches %v, want %v", got, want)
	}
	if got := slices.Concat(out.Batches()...); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("records %v", got)
	}
}

func TestSlowJobsOfAShortInterval(t *testing.T) {
	const batches = 2000
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Millisecond, Clock: clock})
	var seen []int
	in := streamingcontext.Slices(ssc, slices.Collect(slices.Chunk(ints(batches), 1)), 1)
	dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		rows, err := r.Collect(ctx)
		for range 100 {
			runtime.Gosched()
		}
		seen = append(seen, rows...)
		return err
	})
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Set(batches)
	if err := within(t, "batches", func() error { return ssc.Settled(t.Context(), batches) }); err != nil {
		t.Error(err)
	}
	if err := within(t, "stop", func() error { return ssc.Stop(t.Context(), streamingcontext.StopOptions{}) }); err != nil {
		t.Error(err)
	}
	if !slices.Equal(seen, ints(batches)) {
		t.Errorf("%d records, want %d in order", len(seen), batches)
	}
}

func TestBadDeclarationsAreToldAtStart(t *testing.T) {
	opts := streamingcontext.Options{Interval: time.Second}
	other := streamingcontext.New(opts)
	for name, c := range map[string]struct {
		want    error
		declare func(ssc *streamingcontext.Context, s *dstream.DStream[int])
	}{
		"window": {dstream.ErrBadWindow, func(_ *streamingcontext.Context, s *dstream.DStream[int]) {
			discard(dstream.Window(s, 1500*time.Millisecond, time.Second))
		}},
		"slide": {dstream.ErrBadSlide, func(_ *streamingcontext.Context, s *dstream.DStream[int]) {
			discard(dstream.Window(s, 2*time.Second, 1500*time.Millisecond))
		}},
		"negative": {dstream.ErrBadWindow, func(_ *streamingcontext.Context, s *dstream.DStream[int]) {
			discard(dstream.Window(s, -time.Second, time.Second))
		}},
		"zero":       {dstream.ErrBadWindow, func(_ *streamingcontext.Context, s *dstream.DStream[int]) { discard(dstream.Window(s, 0, time.Second)) }},
		"no output":  {dstream.ErrNoOutputOps, func(*streamingcontext.Context, *dstream.DStream[int]) {}},
		"nil map":    {dstream.ErrNilFunction, func(_ *streamingcontext.Context, s *dstream.DStream[int]) { discard(dstream.Map[int, int](s, nil)) }},
		"nil output": {dstream.ErrNilFunction, func(_ *streamingcontext.Context, s *dstream.DStream[int]) { dstream.ForeachRDD(s, nil) }},
		"nil receive": {dstream.ErrNilFunction, func(ssc *streamingcontext.Context, _ *dstream.DStream[int]) {
			discard(streamingcontext.Receive[int](ssc, nil))
		}},
		"contexts": {dstream.ErrDifferentContexts, func(_ *streamingcontext.Context, s *dstream.DStream[int]) {
			discard(s.Union(streamingcontext.Slices(other, [][]int{{1}}, 1)))
		}},
		"zero partitions": {dstream.ErrArgument, func(ssc *streamingcontext.Context, _ *dstream.DStream[int]) {
			discard(streamingcontext.Slices(ssc, [][]int{{1}}, 0))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ssc := streamingcontext.New(opts)
			c.declare(ssc, streamingcontext.Slices(ssc, [][]int{{1}}, 1))
			err := within(t, "start", func() error { return ssc.Start(t.Context()) })
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if err == nil {
				_ = ssc.Stop(t.Context(), streamingcontext.StopOptions{})
				t.Fatal("the context has started")
			}
			if name != "no output" && !strings.Contains(err.Error(), "_test.go:") {
				t.Errorf("no place in %v", err)
			}
			if b, ok := errors.AsType[*dstream.BuildError](err); name != "no output" && (!ok || b.Op == "") {
				t.Errorf("error %v, want a *dstream.BuildError", err)
			}
			if ssc.State() != streamingcontext.Stopped {
				t.Errorf("state %v", ssc.State())
			}
		})
	}
	for _, d := range []time.Duration{-time.Second, 0, time.Microsecond} {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: d})
		discard(streamingcontext.Slices(ssc, [][]int{{1}}, 1))
		if err := within(t, "start", func() error { return ssc.Start(t.Context()) }); err == nil {
			t.Errorf("interval %v is taken", d)
			_ = ssc.Stop(t.Context(), streamingcontext.StopOptions{})
		}
	}
}

func TestPartitionCountsOfABatch(t *testing.T) {
	for _, n := range []int{-1, 1 << 40, 1<<63 - 1} {
		err := batchOf(t, func(s *dstream.DStream[rdd.Pair[int, int]]) {
			discard(dstream.ReduceByKey(s, plus, rdd.NumPartitions(n)))
		})
		wantPlace(t, err)
	}
}

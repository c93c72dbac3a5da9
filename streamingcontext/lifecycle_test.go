package streamingcontext_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// seconds returns options of a context with a batch a second on a clock that stands still.
func seconds() (streamingcontext.Options, *streamingcontext.ManualClock) {
	clock := &streamingcontext.ManualClock{}
	return streamingcontext.Options{Interval: time.Second, Clock: clock,
		EngineOptions: streamingcontext.EngineOptions{Cores: 2}}, clock
}

// discard makes s an output that computes every batch.
func discard[T any](s *dstream.DStream[T]) {
	dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[T], _ dstream.Time) error {
		_, err := r.Count(ctx)
		return err
	})
}

// stop ends a context at once and wants no error.
func stop(t *testing.T, ssc *streamingcontext.Context) {
	t.Helper()
	if err := ssc.Stop(context.Background(), streamingcontext.StopOptions{}); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func wantState(t *testing.T, ssc *streamingcontext.Context, want streamingcontext.State) {
	t.Helper()
	if got := ssc.State(); got != want {
		t.Errorf("state %v, want %v", got, want)
	}
}

func TestStates_X1(t *testing.T) {
	opts, _ := seconds()
	ssc := streamingcontext.New(opts)
	discard(nothing(ssc))
	wantState(t, ssc, streamingcontext.Initialized)
	for range 2 { // the second one has no effect
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantState(t, ssc, streamingcontext.Active)
	}
	for range 2 {
		stop(t, ssc)
		wantState(t, ssc, streamingcontext.Stopped)
	}
	wantErr(t, "start after stop", ssc.Start(t.Context()), dstream.ErrContextStopped)

	never := streamingcontext.New(opts)
	stop(t, never)
	wantState(t, never, streamingcontext.Stopped)
	if err := never.Await(t.Context()); err != nil {
		t.Errorf("await of a context that never ran: %v", err)
	}
	wantErr(t, "start after stop before start", never.Start(t.Context()), dstream.ErrContextStopped)
}

func TestNoOutput_X2(t *testing.T) {
	opts, _ := seconds()
	ssc := streamingcontext.New(opts)
	nothing(ssc)
	wantErr(t, "start", ssc.Start(t.Context()), dstream.ErrNoOutputOps)
	wantState(t, ssc, streamingcontext.Stopped)
	if ssc.Engine().Active() != nil {
		t.Error("the engine still has an active context")
	}
}

func TestAnotherContextIsActive_X3(t *testing.T) {
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	opts, _ := seconds()
	opts.EngineOptions, opts.Engine = streamingcontext.EngineOptions{}, engine
	first, second := streamingcontext.New(opts), streamingcontext.New(opts)
	discard(nothing(first))
	discard(nothing(second))
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "start", second.Start(t.Context()), streamingcontext.ErrAnotherContextActive)
	wantState(t, second, streamingcontext.Initialized)
	stop(t, first)
	if err := second.Start(t.Context()); err != nil {
		t.Errorf("start once the other has stopped: %v", err)
	}
	stop(t, second)
}

func TestDeclarationsAfterStart_X4(t *testing.T) {
	opts, _ := seconds()
	ssc := streamingcontext.New(opts)
	in := nothing(ssc)
	discard(in)
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	declare := func(want error) {
		t.Helper()
		wantErr(t, "input", nothing(ssc).Err(), want)
		wantErr(t, "receiver", ssc.SocketText("localhost:1").Err(), want)
		wantErr(t, "map", dstream.Map(in, func(x int) int { return x }).Err(), want)
		wantErr(t, "output", dstream.Print(in, nil, 1).Err(), want)
		wantErr(t, "remember", ssc.Remember(time.Minute), want)
	}
	declare(dstream.ErrContextActive)
	stop(t, ssc)
	declare(dstream.ErrContextStopped)
}

func TestErrorOfATaskReachesAwait_X5(t *testing.T) {
	broken := errors.New("broken")
	for name, declare := range map[string]func(*dstream.DStream[int]){
		"map": func(s *dstream.DStream[int]) {
			discard(dstream.Map(s, func(x int) int { panic(broken) }))
		},
		"transform": func(s *dstream.DStream[int]) {
			discard(dstream.Transform(s, func(*rdd.RDD[int], dstream.Time) (*rdd.RDD[int], error) { return nil, broken }))
		},
		"output": func(s *dstream.DStream[int]) {
			dstream.ForeachRDD(s, func(context.Context, *rdd.RDD[int], dstream.Time) error { return broken })
		},
	} {
		t.Run(name, func(t *testing.T) {
			opts, clock := seconds()
			ssc := streamingcontext.New(opts)
			declare(streamingcontext.Slices(ssc, [][]int{{1}}, 1))
			if err := ssc.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer stop(t, ssc)
			clock.Advance(1000)
			for range 2 { // also on later calls
				err := ssc.Await(t.Context())
				if err == nil || !strings.Contains(err.Error(), "broken") || !strings.Contains(err.Error(), "lifecycle_test.go:") {
					t.Fatalf("await: %v; want the cause and its place", err)
				}
				if name != "map" {
					wantErr(t, "await", err, broken)
				}
			}
			stop(t, ssc) // waits for the stop that the batch has begun
			wantState(t, ssc, streamingcontext.Stopped)
		})
	}
}

func TestAwait_X6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts, _ := seconds()
		ssc := streamingcontext.New(opts)
		discard(nothing(ssc))
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		wantErr(t, "await while running", ssc.Await(short), context.DeadlineExceeded)
		stop(t, ssc)
		if err := ssc.Await(t.Context()); err != nil {
			t.Errorf("await after stop: %v", err)
		}
	})
}

func TestKeepEngine_X7(t *testing.T) {
	opts, _ := seconds()
	ssc := streamingcontext.New(opts)
	discard(nothing(ssc))
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{KeepEngine: true}); err != nil {
		t.Fatal(err)
	}
	numbers := rdd.Parallelize(ssc.RDDs(), []int{1, 2, 3}, 2)
	if n, err := numbers.Count(t.Context()); n != 3 || err != nil {
		t.Errorf("count on the kept engine: %d, %v", n, err)
	}
	stop(t, ssc)
	if _, err := numbers.Count(t.Context()); !errors.Is(err, rdd.ErrStopped) {
		t.Errorf("count on the closed engine: %v", err)
	}
}

func TestStopInListener_X9(t *testing.T) {
	opts, clock := seconds()
	var ssc *streamingcontext.Context
	got := make(chan error, 2)
	opts.Listeners = []streamingcontext.Listener{{BatchCompleted: func(streamingcontext.BatchInfo) {
		got <- ssc.Stop(context.Background(), streamingcontext.StopOptions{})
	}}}
	ssc = streamingcontext.New(opts)
	discard(nothing(ssc))
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer stop(t, ssc)
	clock.Advance(1000)
	wantErr(t, "stop", <-got, streamingcontext.ErrStopInListener)
	wantState(t, ssc, streamingcontext.Active)
}

func TestStopInABatch(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	ssc := kit.Context()
	got := make(chan error, 2)
	in := dstream.Transform(streamtest.Input[int](kit).Stream(), func(r *rdd.RDD[int], _ dstream.Time) (*rdd.RDD[int], error) {
		got <- ssc.Stop(context.Background(), streamingcontext.StopOptions{})
		return r, nil
	})
	dstream.ForeachRDD(in, func(ctx context.Context, _ *rdd.RDD[int], _ dstream.Time) error {
		got <- ssc.Stop(ctx, streamingcontext.StopOptions{})
		return nil
	})
	kit.Advance(1)
	for range 2 {
		wantErr(t, "stop", <-got, streamingcontext.ErrStopInJob)
	}
}

func TestGracefulStopLosesNothing_X10(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := streamingcontext.Options{Interval: time.Second, StopTimeout: time.Minute,
			EngineOptions: streamingcontext.EngineOptions{Cores: 2}}
		ssc := streamingcontext.New(opts)
		in := streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
			ctx = context.WithoutCancel(ctx) // goes on until all is delivered
			for i := range 15 {
				<-time.After(time.Second)
				if err := sink.Store(ctx, i); err != nil {
					return err
				}
			}
			return nil
		}))
		var got []int
		dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
			rows, err := r.Collect(ctx)
			got = append(got, rows...)
			return err
		})
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(2500 * time.Millisecond) // in the bubble's time: some are delivered, most are not
		if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{Graceful: true}); err != nil {
			t.Fatal(err)
		}
		if len(got) != 15 {
			t.Errorf("%d records processed, want 15: %v", len(got), got)
		}
		for i, x := range got {
			if x != i {
				t.Errorf("record %d is %d", i, x)
			}
		}
	})
}

func TestGracefulStopEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second})
		started := make(chan bool, 1)
		dstream.ForeachRDD(nothing(ssc), func(ctx context.Context, _ *rdd.RDD[int], _ dstream.Time) error {
			started <- true
			<-ctx.Done()
			return ctx.Err()
		})
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-started
		begin := time.Now()
		err := ssc.Stop(t.Context(), streamingcontext.StopOptions{Graceful: true})
		timeout, ok := errors.AsType[*streamingcontext.StopTimeoutError](err)
		if !ok || timeout.Timeout != 10*time.Second || timeout.Waiting != "batches to be processed" {
			t.Errorf("stop: %v", err)
		}
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("stop took %v, want ten intervals", took)
		}
		wantState(t, ssc, streamingcontext.Stopped)
	})
}

func TestStopAtOnceCutsAGracefulOneShort(t *testing.T) {
	opts, _ := seconds() // whose clock stands still: a graceful stop would wait for its timeout
	ssc := streamingcontext.New(opts)
	discard(nothing(ssc))
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := ssc.Stop(ended, streamingcontext.StopOptions{Graceful: true})
	if err != nil { // it may have ended before it looked at its context
		wantErr(t, "stop whose context ends", err, context.Canceled)
	}
	err = ssc.Stop(t.Context(), streamingcontext.StopOptions{})
	if _, ok := errors.AsType[*streamingcontext.StopTimeoutError](err); !ok {
		t.Errorf("second stop: %v", err)
	}
	wantState(t, ssc, streamingcontext.Stopped)
}

func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second})
		batches := 0
		dstream.ForeachRDD(nothing(ssc), func(context.Context, *rdd.RDD[int], dstream.Time) error {
			batches++
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		if err := ssc.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
		// Three or four seconds have begun, then come the wait in progress and a final period.
		if batches < 5 || batches > 6 {
			t.Errorf("%d batches", batches)
		}
		wantState(t, ssc, streamingcontext.Stopped)
	})
}

func TestRunEndsWhenABatchFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second})
		broken := errors.New("broken")
		batches := 0
		dstream.ForeachRDD(nothing(ssc), func(context.Context, *rdd.RDD[int], dstream.Time) error {
			if batches++; batches == 3 {
				return broken
			}
			return nil
		})
		err := ssc.Run(t.Context())
		wantErr(t, "run", err, broken)
		out, ok := errors.AsType[*streamingcontext.OutputError](err)
		if !ok || out.Name != "foreachRDD" || out.Output != 0 || !strings.HasPrefix(out.Site, "lifecycle_test.go:") {
			t.Errorf("run: %v", err)
		}
		if batches != 3 {
			t.Errorf("%d batches ran, want none after the third", batches)
		}
		wantState(t, ssc, streamingcontext.Stopped)
	})
}

func TestStopCancelsTasks(t *testing.T) {
	opts, clock := seconds()
	ssc := streamingcontext.New(opts)
	running := make(chan bool, 2)
	dstream.ForeachRDD(nothing(ssc), func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		return r.ForeachPartition(ctx, func(ctx context.Context, _ int, _ iter.Seq[int]) error {
			running <- true
			<-ctx.Done()
			return ctx.Err()
		})
	})
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(1000)
	<-running
	<-running
	stop(t, ssc) // returns, since the tasks do
	if err := ssc.Await(t.Context()); err != nil {
		t.Errorf("what the stop cancelled is reported: %v", err)
	}
}

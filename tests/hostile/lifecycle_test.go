package hostile

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/streamingcontext"
)

// idle returns a context of one output over nothing, whose clock stands still.
func idle() (*streamingcontext.Context, *streamingcontext.ManualClock) {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	discard(streamingcontext.Slices(ssc, [][]int{{1}}, 1))
	return ssc, clock
}

func TestStartWithAnEndedContext(t *testing.T) {
	ssc, _ := idle()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := within(t, "start", func() error { return ssc.Start(ended) }); !errors.Is(err, context.Canceled) {
		t.Errorf("start: %v", err)
	}
	again := within(t, "start again", func() error { return ssc.Start(t.Context()) })
	if !errors.Is(again, dstream.ErrContextStopped) {
		t.Errorf("start again: %v", again)
	}
	run, _ := idle()
	if err := within(t, "run", func() error { return run.Run(ended) }); err != nil {
		t.Errorf("run: %v", err)
	}
}

func TestStopFromManyGoroutines(t *testing.T) {
	for _, started := range []bool{false, true} {
		ssc, clock := idle()
		if started {
			if err := ssc.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			clock.Advance(3000)
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				err := ssc.Stop(context.Background(), streamingcontext.StopOptions{Graceful: i%2 == 0})
				if _, cut := errors.AsType[*streamingcontext.StopTimeoutError](err); err != nil && !cut {
					t.Errorf("stop: %v", err)
				}
			})
		}
		wg.Go(func() { _ = ssc.Start(context.Background()) })
		_ = within(t, "stop", func() error { wg.Wait(); return nil })
		if err := within(t, "last stop", func() error { _ = ssc.Stop(context.Background(), streamingcontext.StopOptions{}); return nil }); err != nil {
			t.Error(err)
		}
		if ssc.State() != streamingcontext.Stopped {
			t.Errorf("state %v", ssc.State())
		}
	}
}

func TestTwoGracefulStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second})
		discard(streamingcontext.Slices(ssc, [][]int{{1}}, 1))
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if err := ssc.Stop(context.Background(), streamingcontext.StopOptions{Graceful: true}); err != nil {
					t.Errorf("stop: %v", err)
				}
			})
		}
		wg.Wait()
	})
}

func TestAStopUnderABlockingTask(t *testing.T) {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	blocked := make(chan bool, 10)
	dstream.ForeachRDD(streamingcontext.Slices(ssc, [][]int{{1}}, 1), func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		return r.ForeachPartition(ctx, func(ctx context.Context, _ int, _ iter.Seq[int]) error {
			blocked <- true
			<-ctx.Done()
			return ctx.Err()
		})
	})
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(1000)
	<-blocked
	ssc.Engine().Cluster().Kill("local-0")
	ssc.Engine().Cluster().Add()
	<-blocked // on the executor that came
	if err := within(t, "stop", func() error { return ssc.Stop(t.Context(), streamingcontext.StopOptions{}) }); err != nil {
		t.Error(err)
	}
}

func TestReceiversThatBreakTheirContract(t *testing.T) {
	for name, fail := range map[string]func() error{
		"returns": func() error { return nil },
		"fails":   func() error { return errors.New("boom") },
		"panics":  func() error { panic("boom") },
		"exits":   func() error { runtime.Goexit(); return nil },
		"at once": func() error { return &receivers.RestartError{Err: errors.New("again")} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, StopTimeout: time.Hour})
				next := 0
				in := streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
					if next == 20 {
						<-ctx.Done()
						return ctx.Err()
					}
					next++
					if err := sink.Store(ctx, next); err != nil {
						return err
					}
					return fail()
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
				<-time.After(time.Minute) // of the bubble
				if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{Graceful: true}); err != nil {
					t.Error(err)
				}
				want := ints(21)[1:]
				if !slices.Equal(got, want) {
					t.Errorf("records %v, want each once: %v", got, want)
				}
			})
		})
	}
}

func TestAReceiverThatStoresFromManyGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, StopTimeout: time.Hour, MaxPendingRecords: 50})
		in := streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for i := range 100 {
						if err := sink.Store(context.WithoutCancel(ctx), g*100+i); err != nil {
							t.Errorf("store: %v", err)
							return
						}
					}
				})
			}
			wg.Wait()
			<-ctx.Done()
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
		<-time.After(2500 * time.Millisecond)
		if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{Graceful: true}); err != nil {
			t.Error(err)
		}
		slices.Sort(got)
		if !slices.Equal(got, ints(800)) {
			t.Errorf("%d records, want 800 once each", len(got))
		}
	})
}

func TestAReceiverThatIgnoresItsContext(t *testing.T) {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock, StopTimeout: time.Millisecond})
	release := make(chan bool)
	discard(streamingcontext.Receive(ssc, receivers.Func[int](func(context.Context, receivers.Sink[int]) error {
		<-release
		return nil
	})))
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := within(t, "stop", func() error { return ssc.Stop(ended, streamingcontext.StopOptions{Graceful: true}) }); !errors.Is(err, context.Canceled) {
		t.Errorf("stop: %v", err)
	}
	close(release)
	err := within(t, "stop once it returns", func() error { return ssc.Stop(t.Context(), streamingcontext.StopOptions{}) })
	if _, ok := errors.AsType[*streamingcontext.StopTimeoutError](err); !ok {
		t.Errorf("stop once it returns: %v", err)
	}
}

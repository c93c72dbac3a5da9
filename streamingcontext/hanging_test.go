package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// T-01: stop from a listener, from an output, from a function of Transform and from another goroutine, all at once.
func TestStopFromEverywhereAtOnce_T01(t *testing.T) {
	for _, graceful := range []bool{false, true} {
		t.Run(fmt.Sprintf("graceful=%t", graceful), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ssc *streamingcontext.Context
				how := streamingcontext.StopOptions{Graceful: graceful}
				var wg sync.WaitGroup
				var mu sync.Mutex
				var refused []error
				fromInside := func() {
					err := ssc.Stop(context.Background(), how)
					mu.Lock()
					defer mu.Unlock()
					refused = append(refused, err)
					if len(refused) != 3 {
						return
					}
					for range 2 { // as a program does that wants to stop from there
						wg.Go(func() {
							if err := ssc.Stop(context.Background(), how); err != nil {
								t.Errorf("stop: %v", err)
							}
						})
					}
				}
				var once [3]sync.Once
				ssc = streamingcontext.New(streamingcontext.Options{Interval: time.Second, Listeners: []streamingcontext.Listener{{
					BatchStarted: func(streamingcontext.BatchInfo) { once[0].Do(fromInside) },
				}}})
				in := dstream.Transform(nothing(ssc), func(r *rdd.RDD[int], _ dstream.Time) (*rdd.RDD[int], error) {
					once[1].Do(fromInside)
					return r, nil
				})
				dstream.ForeachRDD(in, func(context.Context, *rdd.RDD[int], dstream.Time) error {
					once[2].Do(fromInside)
					return nil
				})
				if err := ssc.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := ssc.Await(t.Context()); err != nil {
					t.Errorf("await: %v", err)
				}
				wg.Wait()
				wantState(t, ssc, streamingcontext.Stopped)
				if len(refused) != 3 {
					t.Fatalf("refused: %v", refused)
				}
				for _, err := range refused {
					if !errors.Is(err, streamingcontext.ErrStopInListener) && !errors.Is(err, streamingcontext.ErrStopInJob) {
						t.Errorf("stop from inside: %v", err)
					}
				}
				if err := ssc.Stop(t.Context(), how); err != nil {
					t.Errorf("stop once more: %v", err)
				}
			})
		})
	}
}

// T-03: start and stop with no wait between.
func TestStopRightBehindStart_T03(t *testing.T) {
	for i := range 1000 {
		opts, clock := seconds()
		ssc := streamingcontext.New(opts)
		discard(nothing(ssc))
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			clock.Advance(1000) // a batch is on its way
		}
		stop(t, ssc)
		wantState(t, ssc, streamingcontext.Stopped)
	}
}

// T-03: a sink that never returns, in the driver, in a task, and in a listener, holds a stop up for its limit only.
func TestASinkThatNeverReturns_T03(t *testing.T) {
	for _, where := range []string{"output", "task", "listener"} {
		for _, graceful := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s graceful=%t", where, graceful), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const limit = 5 * time.Second
					reached, release := make(chan bool, 10), make(chan bool)
					hang := func() { reached <- true; <-release }
					opts := streamingcontext.Options{Interval: time.Second, StopTimeout: limit}
					if where == "listener" {
						opts.Listeners = []streamingcontext.Listener{{BatchStarted: func(streamingcontext.BatchInfo) { hang() }}}
					}
					ssc := streamingcontext.New(opts)
					dstream.ForeachRDD(nothing(ssc), func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
						switch where {
						case "output":
							hang()
						case "task":
							return r.ForeachPartition(ctx, func(context.Context, int, iter.Seq[int]) error { hang(); return nil })
						}
						return nil
					})
					if err := ssc.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					<-reached
					begin := time.Now()
					err := ssc.Stop(context.Background(), streamingcontext.StopOptions{Graceful: graceful})
					if _, ok := errors.AsType[*streamingcontext.StopTimeoutError](err); !ok {
						t.Errorf("stop: %v", err)
					}
					if took := time.Since(begin); took < limit || took > 2*limit {
						t.Errorf("stop took %v", took)
					}
					wantState(t, ssc, streamingcontext.Stopped)
					close(release)
					if where == "task" || where == "output" {
						_ = ssc.Engine().Close() // waits for the task
					}
				})
			})
		}
	}
}

// A stop without a bound waits, until its context ends.
func TestAStopWithoutALimitWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reached, release := make(chan bool, 1), make(chan bool)
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, StopTimeout: -1})
		dstream.ForeachRDD(nothing(ssc), func(context.Context, *rdd.RDD[int], dstream.Time) error {
			reached <- true
			<-release
			return nil
		})
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-reached
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		wantErr(t, "stop", ssc.Stop(ctx, streamingcontext.StopOptions{}), context.DeadlineExceeded)
		wantState(t, ssc, streamingcontext.Active)
		close(release)
		stop(t, ssc)
		wantState(t, ssc, streamingcontext.Stopped)
	})
}

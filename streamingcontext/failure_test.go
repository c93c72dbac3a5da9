package streamingcontext_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

var errBroken = errors.New("broken")

// aside is the policy that goes on behind a batch that failed.
var aside = streamingcontext.FailurePolicy{Then: streamingcontext.SetAside}

// failing returns options of a kit with a policy, a log, and the events.
func failing(policy streamingcontext.FailurePolicy, log driverlog.Log, e *events) streamtest.Options {
	return streamtest.Options{Configure: func(o *streamingcontext.Options) {
		o.App, o.Log, o.OnFailure = "app", log, policy
		if e != nil {
			o.Listeners = []streamingcontext.Listener{e.listener()}
		}
	}}
}

// failAt is an output that fails in the batch at one time.
func failAt[T any](s *dstream.DStream[T], at dstream.Time) {
	dstream.ForeachRDD(s, func(_ context.Context, _ *rdd.RDD[T], t dstream.Time) error {
		if t == at {
			return errBroken
		}
		return nil
	})
}

// Two of three outputs fail, whatever their order: the batch stays pending, nothing behind it runs, and no block is cleaned.
func TestAFailedBatchStopsItsStream_D6_E3(t *testing.T) {
	for _, order := range []string{"fails then succeeds", "succeeds then fails"} {
		t.Run(order, func(t *testing.T) {
			log, e := newLog(t), &events{}
			kit := streamtest.New(t, failing(streamingcontext.FailurePolicy{}, log, e))
			h := newHanded()
			in := streamingcontext.Receive[int](kit.Context(), h)
			if order == "fails then succeeds" {
				failAt(in, 2000)
				failAt(in, 2000)
			}
			out := streamtest.Collect(kit, in)
			if order != "fails then succeeds" {
				failAt(in, 2000)
				failAt(in, 2000)
			}
			kit.Advance(1)
			h.store(t, 7)
			for range 3 {
				wantErr(t, "advance", kit.TryAdvance(1), errBroken)
			}
			stop(t, kit.Context()) // waits for the stop that the batch has begun
			wantState(t, kit.Context(), streamingcontext.Stopped)
			wantBatches(t, out, nil, []int{7})
			if got := kit.Context().Pending(); !slices.Equal(got, []dstream.Time{2000}) {
				t.Errorf("pending %v", got)
			}
			if a := app(t, log, "app"); a.Last.Time != 1000 || len(a.Open) != 1 || a.Open[0].Prepared != 0 {
				t.Errorf("log %+v", a)
			}
			if held := streamingcontext.HeldBatches(kit.Context()); !slices.Equal(held, []int{1}) {
				t.Errorf("batches of blocks held: %v", held)
			}
			failed := 0
			for _, o := range e.completed[1].Outputs {
				if o.Err != nil {
					failed++
					wantErr(t, "output", o.Err, errBroken)
				}
			}
			if len(e.completed) != 2 || failed != 2 || !e.completed[1].Failed() {
				t.Errorf("completed: %+v", e.completed)
			}
			wantErr(t, "await", kit.Context().Await(t.Context()), errBroken)
			if len(kit.Context().SetAside()) != 0 {
				t.Errorf("set aside: %+v", kit.Context().SetAside())
			}
		})
	}
}

// With two slots a batch may fail while the one before it runs: that one is finished first, and of the later ones only
// those run that had begun.
func TestAStreamStopsOnceTheBatchesBeforeAreDone(t *testing.T) {
	opts, clock := seconds()
	log := newLog(t)
	opts.ConcurrentJobs, opts.App, opts.Log = 2, "app", log
	ssc := streamingcontext.New(opts)
	first, failing := make(chan bool), make(chan bool)
	var mu sync.Mutex
	var ran []dstream.Time
	dstream.ForeachRDD(nothing(ssc), func(_ context.Context, _ *rdd.RDD[int], at dstream.Time) error {
		mu.Lock()
		ran = append(ran, at)
		mu.Unlock()
		switch at {
		case 1000:
			<-first
		case 2000:
			<-failing
			return errBroken
		}
		return nil
	})
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer stop(t, ssc)
	clock.Advance(5000)
	failing <- true
	wantErr(t, "await", ssc.Await(t.Context()), errBroken)
	wantState(t, ssc, streamingcontext.Active)
	if open := app(t, log, "app").Open; len(open) < 2 || open[0].Time != 1000 {
		t.Errorf("open %+v", open)
	}
	close(first)
	if err := ssc.Settled(t.Context(), 2000); err != nil {
		t.Error(err)
	}
	stop(t, ssc)
	if a := app(t, log, "app"); a.Last.Time != 1000 || a.Open[0].Time != 2000 {
		t.Errorf("log %+v", a)
	}
	slices.Sort(ran)
	if !slices.Equal(ran, []dstream.Time{1000, 2000}) {
		t.Errorf("batches that ran: %v", ran)
	}
}

func TestRunReturnsWhatEndedTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second})
		slow := make(chan bool, 1)
		failAt(nothing(ssc), 946684803000) // the third second of the bubble
		dstream.ForeachRDD(nothing(ssc), func(ctx context.Context, _ *rdd.RDD[int], at dstream.Time) error {
			if at == 946684803000 {
				slow <- ctx.Err() == nil
			}
			return nil
		})
		wantErr(t, "run", ssc.Run(t.Context()), errBroken)
		if !<-slow {
			t.Error("the other output of the batch was cancelled")
		}
		wantState(t, ssc, streamingcontext.Stopped)
	})
}

// A policy that sets batches aside goes on without end, and Run as well.
func TestFailedBatchesAreSetAside(t *testing.T) {
	log, e := newLog(t), &events{}
	kit := streamtest.New(t, failing(aside, log, e))
	h := newHanded()
	in := streamingcontext.Receive[int](kit.Context(), h)
	failAt(in, 2000)
	out := streamtest.Collect(kit, in)
	failAt(in, 2000)
	kit.Advance(1)
	for i := range 3 {
		h.store(t, i, i)
		wantErr(t, "advance", kit.TryAdvance(1), errBroken) // the first error stays the first
		if i == 0 {
			want := append([]byte{1, 's', 3, 2, 0, 6}, "broken"...)
			want = append(append(want, 2, 6), "broken"...)
			if got := app(t, log, "app").Last.Manifest; !bytes.Equal(got, want) {
				t.Errorf("manifest %q, want %q", got, want)
			}
		}
	}
	wantState(t, kit.Context(), streamingcontext.Active)
	wantBatches(t, out, nil, []int{0, 0}, []int{1, 1}, []int{2, 2})
	if a := app(t, log, "app"); a.Last.Time != 4000 || len(a.Open) != 0 {
		t.Errorf("log %+v", a)
	}
	if held := streamingcontext.HeldBatches(kit.Context()); !slices.Equal(held, []int{1}) {
		t.Errorf("batches of blocks held: %v", held)
	}
	list := kit.Context().SetAside()
	if len(list) != 1 {
		t.Fatalf("set aside: %+v", list)
	}
	b := list[0]
	if b.Time != 2000 || b.ID != 1 || len(b.Inputs) != 1 || b.Inputs[0].Records != 2 || len(b.Outputs) != 2 || b.Outputs[1].Output != 2 || b.Err != b.Outputs[0] {
		t.Errorf("set aside: %+v", b)
	}
	stop(t, kit.Context())
	if i := slices.Index(e.log, "2000 set aside"); i < 0 || e.log[i-1] != "2000 completed" || !slices.Contains(e.log, "4000 completed") {
		t.Errorf("events %v", e.log)
	}
}

// What the log holds open does not bound how many batches may fail.
func TestAnyNumberOfBatchesIsSetAside(t *testing.T) {
	kit := streamtest.New(t, failing(aside, newLog(t), nil))
	batches := 0
	dstream.ForeachRDD(streamtest.Input[int](kit).Stream(), func(context.Context, *rdd.RDD[int], dstream.Time) error {
		batches++
		return errBroken
	})
	const n = streamingcontext.MaxSetAside + 2
	for range n {
		wantErr(t, "advance", kit.TryAdvance(1), errBroken)
	}
	list := kit.Context().SetAside()
	if batches != n || len(list) != streamingcontext.MaxSetAside || list[0].Time != 3000 || len(kit.Context().Pending()) != 0 {
		t.Errorf("%d batches ran, %d are listed from %v, pending %v", batches, len(list), list[0].Time, kit.Context().Pending())
	}
}

func TestRunGoesOnBehindABatchThatIsSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, OnFailure: aside})
		failAt(nothing(ssc), 946684802000)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := ssc.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
		if len(ssc.SetAside()) != 1 || !errors.Is(ssc.Err(), errBroken) {
			t.Errorf("set aside %v, error %v", ssc.SetAside(), ssc.Err())
		}
	})
}

// Only what failed runs again, later batches wait, and the delay passes on the context's clock.
func TestRetries(t *testing.T) {
	for _, slots := range []int{1, 3} {
		t.Run(fmt.Sprintf("slots=%d", slots), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &events{}
				var logged bytes.Buffer
				ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, ConcurrentJobs: slots,
					OnFailure: streamingcontext.FailurePolicy{Retries: 2, RetryDelay: 1500 * time.Millisecond},
					Listeners: []streamingcontext.Listener{e.listener()}, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
				var mu sync.Mutex
				var ran []string
				begin := time.Now().UnixMilli()
				for k := range 3 {
					fails := 0
					dstream.ForeachRDD(nothing(ssc), func(_ context.Context, _ *rdd.RDD[int], at dstream.Time) error {
						mu.Lock()
						defer mu.Unlock()
						ran = append(ran, fmt.Sprintf("%d of %d at %d", k, int64(at)-begin, time.Now().UnixMilli()-begin))
						if int64(at)-begin == 1000 && k == 1 && fails < 2 {
							fails++
							return errBroken
						}
						return nil
					})
				}
				if err := ssc.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				<-time.After(4600 * time.Millisecond)
				stop(t, ssc)
				want := []string{"0 of 1000 at 1000", "1 of 1000 at 1000", "2 of 1000 at 1000", "1 of 1000 at 2500", "1 of 1000 at 4000"}
				for _, batch := range []int{2000, 3000, 4000} {
					for k := range 3 {
						want = append(want, fmt.Sprintf("%d of %d at 4000", k, batch))
					}
				}
				slices.Sort(ran)
				slices.Sort(want)
				if diff := cmp.Diff(ran, want); diff != "" {
					t.Errorf("outputs that ran (-got +want):\n%s", diff)
				}
				if err := ssc.Err(); err != nil {
					t.Errorf("error %v of what ended well in the end", err)
				}
				first := e.completed[0]
				if o := first.Outputs[1]; first.Failed() || o.Attempt != 3 || o.Err != nil || first.Ended-first.Started != 3000 {
					t.Errorf("completed %+v", first)
				}
				if n := strings.Count(logged.String(), "running it again"); n != 2 {
					t.Errorf("%d warnings:\n%s", n, &logged)
				}
			})
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	for _, then := range []streamingcontext.FailureAction{streamingcontext.StopOnFailure, streamingcontext.SetAside} {
		t.Run(then.String(), func(t *testing.T) {
			log := newLog(t)
			kit := streamtest.New(t, failing(streamingcontext.FailurePolicy{Retries: 3, Then: then}, log, nil))
			in := streamtest.Input[int](kit).Stream()
			tries := 0
			dstream.ForeachRDD(in, func(_ context.Context, _ *rdd.RDD[int], at dstream.Time) error {
				if at == 1000 {
					tries++
					return errBroken
				}
				return nil
			})
			out := streamtest.Collect(kit, in)
			for range 2 {
				wantErr(t, "advance", kit.TryAdvance(1), errBroken)
			}
			if tries != 4 {
				t.Errorf("%d tries, want 4", tries)
			}
			if then == streamingcontext.SetAside {
				wantBatches(t, out, nil, nil)
				if a := app(t, log, "app"); a.Last.Time != 2000 {
					t.Errorf("log %+v", a)
				}
				return
			}
			stop(t, kit.Context())
			wantBatches(t, out, nil)
			if got := kit.Context().Pending(); !slices.Equal(got, []dstream.Time{1000}) {
				t.Errorf("pending %v", got)
			}
		})
	}
}

// A stop ends a batch that waits to be run again.
func TestStopWhileABatchWaitsToBeRunAgain(t *testing.T) {
	opts, clock := seconds()
	opts.OnFailure = streamingcontext.FailurePolicy{Retries: 1, RetryDelay: time.Hour}
	ssc := streamingcontext.New(opts)
	failed := make(chan bool, 1)
	dstream.ForeachRDD(nothing(ssc), func(context.Context, *rdd.RDD[int], dstream.Time) error {
		failed <- true
		return errBroken
	})
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(1000)
	<-failed
	stop(t, ssc)
	if err := ssc.Err(); err != nil {
		t.Errorf("error %v of an output that was to run again", err)
	}
	if got := ssc.Pending(); !slices.Equal(got, []dstream.Time{1000}) {
		t.Errorf("pending %v", got)
	}
}

func TestABatchThatCannotBeGenerated(t *testing.T) {
	for _, then := range []streamingcontext.FailureAction{streamingcontext.StopOnFailure, streamingcontext.SetAside} {
		t.Run(then.String(), func(t *testing.T) {
			log := newLog(t)
			// Retries make no difference: the inputs were asked.
			kit := streamtest.New(t, failing(streamingcontext.FailurePolicy{Retries: 5, Then: then}, log, nil))
			in := streamtest.Input[int](kit)
			first := streamtest.Collect(kit, in.Stream())
			asked := 0
			second := streamtest.Collect(kit, dstream.Transform(in.Stream(), func(r *rdd.RDD[int], at dstream.Time) (*rdd.RDD[int], error) {
				asked++
				if at == 2000 {
					return nil, errBroken
				}
				return r, nil
			}))
			in.Push(1)
			kit.Advance(1)
			in.Push(2)
			err := kit.TryAdvance(1)
			wantErr(t, "advance", err, errBroken)
			if g, ok := errors.AsType[*dstream.GenerationError](err); !ok || g.Batch != 2000 || g.Op != "transform" {
				t.Errorf("advance: %v", err)
			}
			in.Push(3)
			wantErr(t, "advance", kit.TryAdvance(1), errBroken) // the first error stays
			a := app(t, log, "app")
			if then == streamingcontext.StopOnFailure {
				stop(t, kit.Context())
				wantBatches(t, first, []int{1})
				if asked != 2 || a.Next != 2 || len(a.Open) != 1 || a.Open[0].Prepared != 0 {
					t.Errorf("asked %d times; log: next %d, open %+v", asked, a.Next, a.Open)
				}
				if got := kit.Context().Pending(); !slices.Equal(got, []dstream.Time{2000}) {
					t.Errorf("pending %v", got)
				}
				return
			}
			for _, out := range []*streamtest.Output[int]{first, second} {
				wantBatches(t, out, []int{1}, []int{3}) // no output of the batch ran
			}
			if a.Next != 3 || len(a.Open) != 0 {
				t.Errorf("log: next %d, open %+v", a.Next, a.Open)
			}
			if list := kit.Context().SetAside(); len(list) != 1 || list[0].Time != 2000 || list[0].Outputs != nil || !errors.Is(list[0].Err, errBroken) {
				t.Errorf("set aside %+v", list)
			}
		})
	}
}

func TestFailurePolicies(t *testing.T) {
	for want, p := range map[string]streamingcontext.FailurePolicy{
		"Retries is negative": {Retries: -1},
		"RetryDelay":          {RetryDelay: time.Microsecond},
		"action 7":            {Then: 7},
	} {
		if err := (streamingcontext.Options{Interval: time.Second, OnFailure: p}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("validate: %v, want %q", err, want)
		}
	}
	p := streamingcontext.FailurePolicy{Retries: 2, RetryDelay: time.Second, Then: streamingcontext.SetAside}
	if got, want := p.String(), "2 retries, delay 1s, then set aside"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

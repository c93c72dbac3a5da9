package streamingcontext_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/queue"
	"github.com/leat-io/leat/receivers/rate"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// hostileInput is an input whose methods do not come back as they should.
type hostileInput struct{ report, forget func() }

func (hostileInput) RDD(c *rdd.Context, _ dstream.Time) (*rdd.RDD[int], error) {
	return rdd.Parallelize(c, []int{1}, 1), nil
}

func (in hostileInput) Report(dstream.Time) (int64, string, bool) {
	in.report()
	return 1, "", true
}

func (in hostileInput) Forget(dstream.Time) { in.forget() }

// ways are how a function may end that is not to.
var ways = map[string]func(){"panics": func() { panic("no") }, "ends its goroutine": runtime.Goexit}

func TestInputsThatDoNotComeBack(t *testing.T) {
	for name, end := range ways {
		for what, in := range map[string]hostileInput{
			"report": {report: end, forget: func() {}}, "forget": {report: func() {}, forget: end}} {
			t.Run(what+" "+name, func(t *testing.T) {
				kit := streamtest.New(t, streamtest.Options{})
				discard(dstream.NewInput[int](kit.Context().Graph(), "hostile", "Hostile", in))
				err := kit.TryAdvance(5)
				if name == "panics" {
					wantErrAs[*rdd.PanicError](t, err)
				} else {
					wantErr(t, "advance", err, dstream.ErrGoexit)
				}
				wantErrAs[*dstream.GenerationError](t, err)
			})
		}
	}
}

func TestAnEstimatorThatCannotBeMade(t *testing.T) {
	for name, end := range ways {
		t.Run(name, func(t *testing.T) {
			ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Backpressure: streamingcontext.Backpressure{Enabled: true,
				NewEstimator: func(int, time.Duration) (rate.Estimator, error) {
					end()
					return nil, nil
				}}})
			discard(streamingcontext.Receive(ssc, receivers.Func[int](waitForEnd)))
			err := ssc.Start(t.Context())
			if name == "panics" {
				wantErrAs[*streamingcontext.PanicError](t, err)
			} else {
				wantErr(t, "start", err, dstream.ErrGoexit)
			}
			if ssc.State() != streamingcontext.Stopped || ssc.Engine().Active() != nil {
				t.Errorf("the context is %v, active on the engine: %v", ssc.State(), ssc.Engine().Active() != nil)
			}
		})
	}
}

func TestOptionsThatAreNil(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	q := &queue.Queue[*rdd.RDD[int]]{}
	out := streamtest.Collect(kit, streamingcontext.QueueStream(kit.Context(), q, nil))
	discard(kit.Context().TextFiles(t.TempDir(), nil))
	q.Push(rdd.Parallelize(kit.Context().RDDs(), []int{7}, 1))
	kit.Advance(1)
	wantBatches(t, out, []int{7})
}

func wantErrAs[E error](t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[E](err); !ok {
		t.Errorf("error %v, want a %T in it", err, *new(E))
	}
}

// State is not lost where batches cannot be generated for longer than streams remember. What those batches had counts as
// far as it is remembered.
func TestStateOutlivesBatchesThatCannotBeGenerated(t *testing.T) {
	type pair = rdd.Pair[string, int]
	for _, kind := range []string{"mapWithState", "updateStateByKey"} {
		t.Run(kind, func(t *testing.T) {
			kit := streamtest.New(t, failing(aside, nil, nil))
			in := streamtest.Input[pair](kit)
			broken := false
			s := dstream.Transform(in.Stream(), func(r *rdd.RDD[pair], _ dstream.Time) (*rdd.RDD[pair], error) {
				if broken {
					return nil, errBroken
				}
				return r, nil
			})
			var sums *dstream.DStream[pair]
			if kind == "mapWithState" {
				sums = dstream.MapWithState(s, dstream.NewStateSpec(func(_ string, v rdd.Option[int], s *dstream.State[int]) int {
					_ = s.Update(s.Option().Value + v.Value) // there is no time-out
					return 0
				})).StateSnapshots()
			} else {
				sums = dstream.UpdateStateByKey(s, func(values []int, old rdd.Option[int]) rdd.Option[int] {
					for _, v := range values {
						old.Value += v
					}
					return rdd.Option[int]{Value: old.Value, OK: true}
				})
			}
			out := streamtest.Collect(kit, sums)
			push := func(batches, value int) {
				for range batches {
					in.Push(pair{Key: "a", Value: value})
					_ = kit.TryAdvance(1) // the first error stays
				}
			}
			push(2, 1000)
			broken = true
			push(100, 0)
			broken = false
			push(3, 1)
			wantBatches(t, out, []pair{{Key: "a", Value: 1000}}, []pair{{Key: "a", Value: 2000}},
				[]pair{{Key: "a", Value: 2001}}, []pair{{Key: "a", Value: 2002}}, []pair{{Key: "a", Value: 2003}})
		})
	}
}

// Two contexts, one after the other, whose batches have the same times: the second computes its own.
func TestContextsOneAfterTheOtherOnOneEngine(t *testing.T) {
	type pair = rdd.Pair[string, int]
	e, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{Cores: 2, CheckpointDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for round := range 3 {
		kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) {
			o.EngineOptions, o.Engine = streamingcontext.EngineOptions{}, e
		}})
		in := streamtest.Input[pair](kit)
		out := streamtest.Collect(kit, dstream.MapWithState(in.Stream(), dstream.NewStateSpec(func(k string, v rdd.Option[int], s *dstream.State[int]) pair {
			_ = s.Update(s.Option().Value + v.Value) // there is no time-out
			return pair{Key: k, Value: s.Option().Value}
		})).DStream)
		for i := range 25 {
			in.Push(pair{Key: "a", Value: round + 1})
			kit.Advance(1)
			if got, want := out.Batch(i+1), []pair{{Key: "a", Value: (round + 1) * (i + 1)}}; !slices.Equal(got, want) {
				t.Fatalf("context %d, batch %d: %v, want %v", round, i+1, got, want)
			}
		}
		if err := kit.Context().Stop(context.Background(), streamingcontext.StopOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

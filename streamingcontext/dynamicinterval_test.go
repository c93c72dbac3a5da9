package streamingcontext_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/generator"
	"github.com/leat-io/leat/streamingcontext"
)

// An output takes two and a half seconds whatever a batch has. Batches of one second would be late without end; batches of four are
// not. Once the output is quick, each second has a batch again. No record is lost, and each is in one window.
func TestDynamicIntervalFollowsTheBatches(t *testing.T) {
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source, err := generator.New(func(i int64) int64 { return 1 }, generator.Options{Rate: 100})
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				var mu sync.Mutex
				var batches []streamingcontext.BatchInfo // the listener's
				ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, StopTimeout: time.Hour,
					DynamicInterval: streamingcontext.DynamicInterval{Enabled: on},
					EngineOptions:   streamingcontext.EngineOptions{Cores: 2, CheckpointDir: t.TempDir()},
					Listeners: []streamingcontext.Listener{{BatchCompleted: func(b streamingcontext.BatchInfo) {
						mu.Lock()
						defer mu.Unlock()
						batches = append(batches, b)
					}}}})
				load, end := context.WithCancel(t.Context())
				defer end()
				in := streamingcontext.Receive(ssc, receivers.Func[int64](func(ctx context.Context, sink receivers.Sink[int64]) error {
					loaded, cancel := context.WithCancel(ctx)
					defer context.AfterFunc(load, cancel)()
					_ = source.Receive(loaded, sink) // ends with the load
					<-ctx.Done()
					return ctx.Err()
				}))
				var all, windowed int64
				windows := 0
				dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int64], _ dstream.Time) error {
					n, err := rdd.Sum(ctx, r)
					all += n
					if time.Since(begin) < 60*time.Second {
						<-time.After(2500 * time.Millisecond)
					}
					return err
				})
				dstream.ForeachRDD(dstream.Window(in, 6*time.Second, 6*time.Second), func(ctx context.Context, r *rdd.RDD[int64], _ dstream.Time) error {
					n, err := rdd.Sum(ctx, r)
					windowed += n
					windows++
					return err
				})
				if err := ssc.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				pass(60 * time.Second)
				mu.Lock()
				slow := len(batches)
				mu.Unlock()
				end()
				pass(60 * time.Second)
				if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{Graceful: true}); err != nil {
					t.Fatal(err)
				}
				var worst time.Duration
				var covered, most int64
				for i, b := range batches {
					covered, most = covered+b.Intervals, max(most, b.Intervals)
					if d, _ := b.SchedulingDelay(); i < slow {
						worst = max(worst, d)
					}
				}
				if last := batches[len(batches)-1]; last.Intervals != 1 || covered < 119 {
					t.Errorf("%d intervals are covered, the last batch covers %d", covered, last.Intervals)
				}
				if all != source.Next() || on && windows < 19 {
					t.Errorf("%d of %d records processed, %d windows", all, source.Next(), windows)
				}
				if left := all - windowed; left != 0 {
					t.Errorf("%d records are in no window", left)
				}
				if on && (worst > 6*time.Second || most != 4) {
					t.Errorf("a batch waited %v, batches cover up to %d intervals", worst, most)
				}
				if !on && (worst < 15*time.Second || most != 1) {
					t.Errorf("without the option a batch waited %v only, and one covers %d intervals", worst, most)
				}
			})
		})
	}
}

func TestDynamicIntervalRefusesWhatCannotBeLeftOut(t *testing.T) {
	opts, _ := seconds()
	opts.DynamicInterval.Enabled = true
	ssc := streamingcontext.New(opts)
	lines := ssc.TextFiles(t.TempDir())
	discard(dstream.Window(lines, 3*time.Second, 0))
	discard(dstream.Union(dstream.Window(lines, 3*time.Second, 3*time.Second), dstream.Window(each(ssc, "x"), 3*time.Second, 3*time.Second)))
	err := ssc.Start(t.Context())
	wantErr(t, "a window that slides every batch", err, dstream.ErrSlidesEveryBatch)
	wantErr(t, "an input by time", err, dstream.ErrInputByTime)
}

// numbers writes the files of seconds from to to: each has its second.
func numbers(f folder, from, to int64) {
	for s := from; s <= to; s++ {
		f.write(fmt.Sprintf("%06d", s), s*1000-500, fmt.Sprintf("%d\n", s))
	}
}

// parsed are the numbers of lines, keyed alike.
func parsed(lines *dstream.DStream[string]) *dstream.DStream[rdd.Pair[string, int64]] {
	return dstream.Map(lines, func(line string) rdd.Pair[string, int64] {
		n, _ := strconv.ParseInt(line, 10, 64)
		return rdd.Pair[string, int64]{Key: "sum", Value: n}
	})
}

// The process that goes on has the batches again that were left out by the one before: results are those without a stop.
func TestDynamicIntervalOverAStop(t *testing.T) {
	run := func(t *testing.T, until ...int64) []string {
		f, out := folder{t, t.TempDir()}, &seen{}
		numbers(f, 1, 40)
		s := survive(t, func(ssc *streamingcontext.Context) error {
			sums := parsed(ssc.TextFiles(f.dir, streamingcontext.IncludeExisting()))
			watch(out, dstream.Map(sums, func(p rdd.Pair[string, int64]) int64 { return p.Value }), false)
			watch(out, dstream.ReduceByKeyAndWindow(sums, add64, sub64, 8*time.Second, 4*time.Second), false)
			watch(out, dstream.UpdateStateByKey(sums, total), false)
			return nil
		})
		s.configure = func(o *streamingcontext.Options) {
			o.RepeatLast = false
			o.DynamicInterval = streamingcontext.DynamicInterval{Enabled: true, Patience: 1 << 30}
		}
		for i, to := range until {
			if i > 0 {
				s.killed()
			}
			ssc, err := s.create()
			if err != nil {
				t.Fatal(err)
			}
			streamingcontext.SetPace(ssc, 3)
			if err := ssc.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.clock.Set(to * 1000)
			s.settled()
		}
		s.stop()
		return out.take()
	}
	want := run(t, 40)
	var often []int64 // all that are not left out
	for at := int64(4); at <= 40; at += 4 {
		often = append(often, at-1, at)
	}
	for _, until := range [][]int64{{12, 19, 32, 40}, {3, 40}, often} {
		if got := run(t, until...); cmp.Diff(want, got) != "" {
			t.Errorf("with stops at %v (-without +with):\n%s", until, cmp.Diff(want, got))
		}
	}
	for _, line := range []string{"3 [1 2 3]", "4 [4]", "7 [5 6 7]", "40 [(sum,820)]", "40 [(sum,292)]"} {
		if !slices.Contains(want, line) {
			t.Errorf("%q is not among %q", line, want)
		}
	}
}

func add64(a, b int64) int64 { return a + b }
func sub64(a, b int64) int64 { return a - b }

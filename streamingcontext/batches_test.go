package streamingcontext_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

func TestAClockThatJumpsMakesEveryBatch(t *testing.T) {
	opts, clock := seconds()
	ssc := streamingcontext.New(opts)
	var times []dstream.Time
	dstream.ForeachRDD(nothing(ssc), func(_ context.Context, _ *rdd.RDD[int], at dstream.Time) error {
		times = append(times, at)
		return nil
	})
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(7500)
	if err := ssc.Settled(t.Context(), 7000); err != nil {
		t.Fatal(err)
	}
	stop(t, ssc)
	if want := dstream.Time(1000).To(7000, time.Second); !slices.Equal(times, want) {
		t.Errorf("batches %v, want %v", times, want)
	}
}

func TestSlowBatchesQueueAndNoneIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts, clock := seconds()
		log := newLog(t)
		opts.App, opts.Log = "app", log
		ssc := streamingcontext.New(opts)
		h := newHanded()
		gate := make(chan bool)
		counts := map[dstream.Time]int64{}
		dstream.ForeachRDD(streamingcontext.Receive[int](ssc, h), func(ctx context.Context, r *rdd.RDD[int], at dstream.Time) error {
			<-gate
			n, err := r.Count(ctx)
			counts[at] = n
			return err
		})
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer stop(t, ssc)
		const batches = 100
		clock.Advance(batches * 1000)
		gate <- true
		synctest.Wait()
		// One is committed and 64 are open. Those behind wait for room, and a block that comes now
		// belongs to the first of them.
		if next := app(t, log, "app").Next; next != 65 {
			t.Errorf("%d batches have begun", next)
		}
		h.store(t, 1, 2, 3)
		for range batches - 1 {
			gate <- true
		}
		if err := ssc.Settled(t.Context(), batches*1000); err != nil {
			t.Fatal(err)
		}
		var total int64
		for at, n := range counts {
			total += n
			if n > 0 && at != 66_000 {
				t.Errorf("the late block is in batch %v", at)
			}
		}
		if len(counts) != batches || total != 3 {
			t.Errorf("%d batches with %d records", len(counts), total)
		}
	})
}

func TestConcurrentJobs(t *testing.T) {
	opts, clock := seconds()
	opts.ConcurrentJobs = 2
	log := newLog(t)
	opts.App, opts.Log = "app", log
	ssc := streamingcontext.New(opts)
	first, second := make(chan bool), make(chan bool)
	dstream.ForeachRDD(nothing(ssc), func(_ context.Context, _ *rdd.RDD[int], at dstream.Time) error {
		if at == 1000 {
			<-first
		} else {
			second <- true
		}
		return nil
	})
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2000)
	<-second // while the first batch still runs
	if open := app(t, log, "app").Open; len(open) != 2 || open[1].Prepared != 0 {
		t.Errorf("open batches %+v: the second must wait for the first", open)
	}
	close(first)
	if err := ssc.Settled(t.Context(), 2000); err != nil {
		t.Fatal(err)
	}
	if a := app(t, log, "app"); len(a.Open) != 0 || a.Last.ID != 1 {
		t.Errorf("log %+v", a)
	}
	stop(t, ssc)
}

func TestABatchWithoutJobsIsSettledAtOnce_D4(t *testing.T) {
	log := newLog(t)
	kit := streamtest.New(t, withLog(log))
	in := streamtest.Input[int](kit)
	out := streamtest.Collect(kit, dstream.Window(in.Stream(), 3*time.Second, 3*time.Second))
	for i := range 7 {
		in.Push(i)
		kit.Advance(1)
		if a := app(t, log, "app"); a.Next != int64(i+1) || len(a.Open) != 0 {
			t.Errorf("batch %d: next %d, open %d", i, a.Next, len(a.Open))
		}
	}
	wantBatches(t, out, []int{0, 1, 2}, []int{3, 4, 5})
}

// panicking is an input of a program's own that is at fault.
type panicking struct{}

func (panicking) RDD(*rdd.Context, dstream.Time) (*rdd.RDD[int], error) { panic("no") }

func TestPanics(t *testing.T) {
	for name, declare := range map[string]func(*streamtest.Kit){
		"input": func(k *streamtest.Kit) {
			discard(dstream.NewInput[int](k.Context().Graph(), "own", "Own", panicking{}))
		},
		"output": func(k *streamtest.Kit) {
			dstream.ForeachRDD(nothing(k.Context()), func(context.Context, *rdd.RDD[int], dstream.Time) error { panic("no") })
		},
		"transform": func(k *streamtest.Kit) {
			discard(dstream.Transform(nothing(k.Context()), func(*rdd.RDD[int], dstream.Time) (*rdd.RDD[int], error) { panic("no") }))
		},
		"task": func(k *streamtest.Kit) {
			discard(dstream.Map(streamingcontext.Slices(k.Context(), [][]int{{1}}, 1), func(int) int { panic("no") }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			kit := streamtest.New(t, streamtest.Options{})
			declare(kit)
			err := kit.TryAdvance(1)
			if err == nil || !strings.Contains(err.Error(), "panic: no") {
				t.Errorf("advance: %v", err)
			}
			stop(t, kit.Context())
			wantState(t, kit.Context(), streamingcontext.Stopped)
		})
	}
}

// killing loses an executor in the middle of every batch.
func TestExecutorsThatAreKilledChangeNoOutput(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		t.Run(fmt.Sprintf("isolate=%t", isolate), func(t *testing.T) {
			run := func(kill bool) [][]rdd.Pair[string, int64] {
				kit := streamtest.New(t, streamtest.Options{Engine: streamingcontext.EngineOptions{Executors: 3, Isolate: isolate, Cores: 1}})
				in := streamtest.Input[string](kit)
				var kills, batch atomic.Int64
				words := dstream.Map(in.Stream(), func(w string) string {
					cluster := kit.Context().Engine().Cluster()
					if ids := cluster.Executors(); kill && w == "killer" && kills.Load() < batch.Load() && len(ids) > 0 {
						kills.Add(1)
						cluster.Kill(ids[0])
						cluster.Add()
					}
					return w
				})
				out := streamtest.Collect(kit, dstream.CountByValueAndWindow(words, 3*time.Second, time.Second))
				for i := range 8 {
					batch.Store(int64(i))
					in.Push("killer", fmt.Sprint(i), "ada", "ada")
					kit.Advance(1)
				}
				if kill && kills.Load() < 4 {
					t.Errorf("only %d executors were killed", kills.Load())
				}
				return out.Batches()
			}
			if diff := cmp.Diff(run(true), run(false)); diff != "" {
				t.Errorf("with kills against without (-got +want):\n%s", diff)
			}
		})
	}
}

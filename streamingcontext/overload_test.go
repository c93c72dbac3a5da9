package streamingcontext_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// lines takes what a logger says.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// Ten batches that take 3.1 seconds come every second, with one slot and with two, then many of a tenth of that.
func TestOverloadIsReported(t *testing.T) {
	for _, slots := range []int{1, 2} {
		t.Run(fmt.Sprintf("slots=%d", slots), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, log := &events{}, &lines{}
				ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, ConcurrentJobs: slots,
					Listeners: []streamingcontext.Listener{e.listener()}, Logger: slog.New(slog.NewTextHandler(log, nil)),
					EngineOptions: streamingcontext.EngineOptions{Cores: 4}})
				begin := time.Now().UnixMilli()
				in := streamingcontext.Slices(ssc, make100([]int{1, 2, 3, 4}), 2)
				pairs := dstream.Map(in, func(x int) rdd.Pair[int, int] { return rdd.Pair[int, int]{Key: x, Value: 1} })
				slow := dstream.Transform(dstream.ReduceByKey(pairs, func(a, b int) int { return a + b }, rdd.NumPartitions(1)),
					func(r *rdd.RDD[rdd.Pair[int, int]], at dstream.Time) (*rdd.RDD[int], error) {
						took := 700 * time.Millisecond // for each of four records
						if int64(at)-begin > 10_000 {
							took /= 10
						}
						return rdd.Map(r, func(p rdd.Pair[int, int]) int {
							<-time.After(took)
							return p.Key
						}), nil
					})
				dstream.ForeachRDD(slow, func(ctx context.Context, r *rdd.RDD[int], at dstream.Time) error {
					if int64(at)-begin <= 10_000 {
						<-time.After(270 * time.Millisecond)
					}
					<-time.After(30 * time.Millisecond)
					_, err := r.Count(ctx)
					return err
				})
				if err := ssc.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				<-time.After(50 * time.Second)
				stop(t, ssc)
				var got []string
				for _, o := range e.overloads {
					got = append(got, fmt.Sprintf("%v %d %v %d", o.Phase, int64(o.Batch)-begin, o.SchedulingDelay, o.Waiting))
				}
				want := map[int][]string{
					// Batch 2 starts at 4.1 s, and is seen to be late when batch 4 is made; and so on.
					1: {"begun 2000 2s 2", "grown 3000 4s 4", "grown 5000 8s 8", "grown 9000 16s 16", "over 40000 990ms 0"},
					2: {"begun 3000 1.1s 1"}, // when batch 1 has ended
				}[slots]
				if slots == 2 {
					got = got[:1]
				}
				if diff := cmp.Diff(got, want); diff != "" {
					t.Errorf("overload (-got +want):\n%s", diff)
				}
				last := e.overloads[len(e.overloads)-1]
				if last.Phase != streamingcontext.OverloadOver || last.SchedulingDelay > time.Second {
					t.Errorf("the last one: %v", last)
				}
				grown := e.overloads[1]
				if s := grown.Stage; s.Op != "map" || !strings.HasPrefix(s.Site, "overload_test.go:") || s.Share < 0.89 || s.Share > 0.91 ||
					grown.ProcessingTime != 3100*time.Millisecond || grown.Completed == 0 || grown.Interval != time.Second {
					t.Errorf("grown: %v", grown)
				}
				if n := strings.Count(log.b.String(), "level=WARN msg=\"streaming context overload "); n != len(e.overloads) {
					t.Errorf("%d warnings for %d events:\n%s", n, len(e.overloads), log.b.String())
				}
			})
		})
	}
}

func make100(batch []int) [][]int {
	all := make([][]int, 100)
	for i := range all {
		all[i] = batch
	}
	return all
}

// An output that does not end is told of while it holds up the others.
func TestAnOutputThatHangsIsReportedAsOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &events{}
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Listeners: []streamingcontext.Listener{e.listener()}})
		dstream.ForeachRDD(nothing(ssc), func(ctx context.Context, _ *rdd.RDD[int], _ dstream.Time) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(9500 * time.Millisecond)
		stop(t, ssc)
		if len(e.overloads) != 2 {
			t.Fatalf("told %v", e.overloads)
		}
		for i, want := range []time.Duration{2 * time.Second, 4 * time.Second} {
			if o := e.overloads[i]; int(o.Phase) != i || o.Completed != 0 || o.Stage.Op != "" || o.SchedulingDelay != want {
				t.Errorf("told %v", o)
			}
		}
	})
}

// A clock that jumps makes batches at once: none of them has waited.
func TestAJumpOfTheClockIsNoOverload(t *testing.T) {
	opts, clock := seconds()
	e := &events{}
	opts.Listeners = []streamingcontext.Listener{e.listener()}
	ssc := streamingcontext.New(opts)
	discard(nothing(ssc))
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(200_000)
	if err := ssc.Settled(t.Context(), 200_000); err != nil {
		t.Fatal(err)
	}
	stop(t, ssc)
	if len(e.overloads) != 0 {
		t.Errorf("told %v", e.overloads)
	}
}

package streamingcontext_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// places notes where tasks run, by the name of the operator their job's stage ends at.
type places struct {
	mu    sync.Mutex
	tasks map[scheduler.ExecutorID]int
	near  []scheduler.Locality
}

func (p *places) listener() scheduler.Listener {
	return scheduler.Listener{TaskEnded: func(e scheduler.TaskEnded) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.tasks[e.Executor]++
		p.near = append(p.near, e.Locality)
	}}
}

// take returns what has been noted since the last call, once the tasks are as many as wanted.
func (p *places) take(t *testing.T, tasks int) map[scheduler.ExecutorID]int {
	t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	got, sum := p.tasks, 0
	for _, n := range got {
		sum += n
	}
	if sum != tasks {
		t.Errorf("%d tasks ended, want %d", sum, tasks)
	}
	p.tasks = map[scheduler.ExecutorID]int{}
	return got
}

// preferring is a receiver that names the host it would like.
type preferring struct {
	*handed
	host string
}

func (p preferring) PreferredHost() string { return p.host }

// Three executors, two receivers: the tasks of a receiver's blocks run where it is placed, and where it is placed again
// when that executor is lost. R13: the blocks outlive the executor, so that none is missing.
func TestTasksRunWhereTheirReceiverIs_Y1_Y2_R13(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &places{tasks: map[scheduler.ExecutorID]int{}}
		var moves []string
		clock := &streamingcontext.ManualClock{}
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock,
			EngineOptions: streamingcontext.EngineOptions{Executors: 3, Cores: 4, SchedulerListeners: []scheduler.Listener{p.listener()}},
			Listeners: []streamingcontext.Listener{{
				ReceiverStarted: func(r streamingcontext.ReceiverInfo) { moves = append(moves, fmt.Sprint(r.Stream, " on ", r.Executor)) },
				ReceiverChanged: func(r streamingcontext.ReceiverInfo) { moves = append(moves, fmt.Sprint(r.Stream, " to ", r.Executor)) },
			}}})
		a, b := newHanded(), newHanded()
		var got []int
		first := streamingcontext.Receive[int](ssc, a)
		second := streamingcontext.Receive[int](ssc, preferring{b, "local-2"})
		for _, in := range []*dstream.DStream[int]{first, dstream.Map(second, func(x int) int { return x * 10 })} {
			dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
				rows, err := r.Collect(ctx)
				got = append(got, rows...)
				return err
			})
		}
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer stop(t, ssc)
		batch := func(tasks int) map[scheduler.ExecutorID]int {
			t.Helper()
			clock.Advance(1000)
			if err := ssc.Settled(t.Context(), dstream.Time(clock.Now())); err != nil {
				t.Fatal(err)
			}
			return p.take(t, tasks)
		}
		for _, x := range []int{1, 2, 3} {
			a.store(t, x)
		}
		b.store(t, 4)
		b.store(t, 5)
		if diff := cmp.Diff(map[scheduler.ExecutorID]int{"local-0": 3, "local-2": 2}, batch(5)); diff != "" {
			t.Errorf("tasks (-want +got):\n%s", diff)
		}
		// Blocks that are stored when the executor goes are not lost with it.
		for _, x := range []int{6, 7} {
			a.store(t, x)
		}
		b.store(t, 8)
		ssc.Engine().Cluster().Kill("local-0")
		// The other executor is idle.
		if diff := cmp.Diff(map[scheduler.ExecutorID]int{"local-1": 2, "local-2": 1}, batch(3)); diff != "" {
			t.Errorf("tasks after a loss (-want +got):\n%s", diff)
		}
		// The preferred host is gone, the one that is left has to do.
		ssc.Engine().Cluster().Kill("local-2")
		a.store(t, 9)
		b.store(t, 10)
		if diff := cmp.Diff(map[scheduler.ExecutorID]int{"local-1": 2}, batch(2)); diff != "" {
			t.Errorf("tasks after two losses (-want +got):\n%s", diff)
		}
		slices.Sort(got)
		if want := []int{1, 2, 3, 6, 7, 9, 40, 50, 80, 100}; !slices.Equal(got, want) {
			t.Errorf("records %v, want %v", got, want)
		}
		slices.Sort(moves[:2]) // receivers start at the same time
		if want := []string{"0 on local-0", "1 on local-2", "0 to local-1", "1 to local-1"}; !slices.Equal(moves, want) {
			t.Errorf("receivers %v, want %v", moves, want)
		}
		for _, r := range ssc.Receivers() {
			if r.Executor != "local-1" || !r.Active {
				t.Errorf("%+v", r)
			}
		}
		if len(p.near) != 10 || slices.ContainsFunc(p.near, func(l scheduler.Locality) bool { return l != scheduler.ProcessLocal }) {
			t.Errorf("localities %v", p.near)
		}
	})
}

// Two streams of 300 records each: all 600 are known to be received from the batch's submission on, and processed at its
// completion.
func TestRecordsReceivedAndProcessed_E5(t *testing.T) {
	kit, e := listened(t)
	a, b := newHanded(), newHanded()
	discard(streamingcontext.Receive[int](kit.Context(), a).Union(streamingcontext.Receive[int](kit.Context(), b)))
	kit.Advance(1)
	for range 3 {
		a.store(t, make([]int, 100)...)
		b.store(t, make([]int, 100)...)
	}
	kit.Advance(1)
	stop(t, kit.Context())
	for what, infos := range map[string][]streamingcontext.BatchInfo{"submitted": e.submitted, "started": e.started, "completed": e.completed} {
		var records []int64
		for _, info := range infos {
			records = append(records, info.Records())
			if len(info.Inputs) != 2 || info.Inputs[0].Records != info.Inputs[1].Records {
				t.Errorf("%s: inputs %+v", what, info.Inputs)
			}
		}
		if !slices.Equal(records, []int64{0, 600}) {
			t.Errorf("%s: records %v", what, records)
		}
	}
}

// The executors follow the load: Y3 on a running context.
func TestExecutorsFollowTheLoad_Y3(t *testing.T) {
	var took time.Duration
	var clock *streamingcontext.ManualClock
	kit := streamtest.New(t, streamtest.Options{
		Engine: streamingcontext.EngineOptions{Executors: 2, Cores: 1},
		Configure: func(o *streamingcontext.Options) {
			o.DynamicAllocation = streamingcontext.DynamicAllocation{Enabled: true, Interval: 10 * time.Second, MaxExecutors: 4}
		},
	})
	clock = kit.Clock()
	in := streamingcontext.Receive[int](kit.Context(), newHanded())
	dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		// The batch takes a while by the clock, and the next one is late for it.
		clock.Advance(took.Milliseconds())
		_, err := r.Count(ctx)
		return err
	})
	// interval makes batches until an interval of scaling is over, and returns the executors then.
	look := int64(10_000)
	interval := func(mean time.Duration) int {
		t.Helper()
		took = mean
		for clock.Now() < look {
			next := (clock.Now()/1000 + 1) * 1000
			clock.Set(next)
			if err := kit.Context().Settled(t.Context(), dstream.Time(next)); err != nil {
				t.Fatal(err)
			}
		}
		look = clock.Now() + 10_000
		return len(kit.Context().Engine().Cluster().Executors())
	}
	kit.Advance(1)
	var got []int
	for _, mean := range []time.Duration{500, 899, 301, 901, 950, 990, 0, 299, 301, 0, 0} {
		got = append(got, interval(mean*time.Millisecond))
	}
	if want := []int{2, 2, 2, 3, 4, 4, 3, 2, 2, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("executors %v, want %v", got, want)
	}
	if r := kit.Context().Receivers()[0]; r.Executor != "local-0" {
		t.Errorf("the receiver's executor was released: it is on %q", r.Executor)
	}
}

// A receiver that is rate limited and slow to stop still delivers everything: 15 records at one a second.
func TestGracefulStopUnderARate_X10(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, StopTimeout: time.Minute,
			Backpressure: streamingcontext.Backpressure{Enabled: true, InitialRate: 1}})
		var got []int
		in := streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
			ctx = context.WithoutCancel(ctx)
			for i := range 15 {
				if err := sink.Store(ctx, i); err != nil {
					return err
				}
			}
			return nil
		}))
		dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
			rows, err := r.Collect(ctx)
			got = append(got, rows...)
			return err
		})
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		pass(2500 * time.Millisecond)
		began := time.Now()
		if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{Graceful: true}); err != nil {
			t.Fatal(err)
		}
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}; !slices.Equal(got, want) || time.Since(began) < 11*time.Second {
			t.Errorf("%v after %v", got, time.Since(began))
		}
	})
}

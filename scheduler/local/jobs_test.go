package local_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// both runs f on executors that share memory and on isolated ones.
func both(t *testing.T, f func(t *testing.T, opts local.Options)) {
	t.Run("shared", func(t *testing.T) { f(t, local.Options{}) })
	t.Run("isolated", func(t *testing.T) { f(t, local.Options{Isolate: true}) })
}

// A tally counts started tasks by "op.attempt/partition". mu guards it.
type tally struct {
	mu     sync.Mutex
	ops    map[int]string
	starts map[string]int
	ends   map[string]int
	on     map[string]scheduler.ExecutorID // where it started last
}

func newTally() *tally {
	return &tally{ops: map[int]string{}, starts: map[string]int{}, ends: map[string]int{},
		on: map[string]scheduler.ExecutorID{}}
}

func (c *tally) listener() scheduler.Listener {
	key := func(a lineage.Attempt) string {
		return fmt.Sprintf("%s.%d/%d", c.ops[a.Stage], a.StageAttempt, a.Partition)
	}
	return scheduler.Listener{
		StageSubmitted: func(e scheduler.StageSubmitted) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ops[e.Stage] = e.Op
		},
		TaskStarted: func(e scheduler.TaskStarted) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.starts[key(e.Attempt)]++
			c.on[key(e.Attempt)] = e.Executor
		},
		TaskEnded: func(e scheduler.TaskEnded) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ends[key(e.Attempt)]++
		},
	}
}

// evens is a source of 4 partitions with 10 rows each and the rows of the even and odd ones.
func evens(g *schedulertest.Graph) (*schedulertest.Node, [][]int64) {
	want := make([][]int64, 2)
	for r := range int64(40) {
		want[r%2] = append(want[r%2], r)
	}
	return g.Source("source", 4, func(part int) []int64 {
		var rows []int64
		for i := range 10 {
			rows = append(rows, int64(10*part+i))
		}
		return rows
	}), want
}

func TestKillMidStageRerunsOnlyWhatWasLost(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		opts.Executors, opts.Slots = 2, 2
		cluster := local.New(opts)
		count := newTally()
		added := make(chan scheduler.ExecutorID, 2)
		s := scheduler.New(cluster, scheduler.Options{Listeners: []scheduler.Listener{count.listener(),
			{ExecutorAdded: func(e scheduler.ExecutorInfo) { added <- e.ID }}}})
		defer s.Close()
		if err := s.Run(t.Context(), emptyJob(1)); err != nil {
			t.Fatal(err)
		}
		<-added // with both there, each has two of the sources
		<-added
		g := &schedulertest.Graph{Scope: lineage.Scope{Batch: 1}}
		src, want := evens(g)
		src = g.Map("map", src, func(r int64) int64 { return r })
		final := g.Shuffle("final", src, 2)
		// Partition 0 reads its input, then waits for partition 1 to have killed the executor that does not
		// run partition 0: so partition 0 is done whatever is lost, and 1 has to run again.
		first := make(chan bool)
		var once, kill sync.Once
		final.Hook = func(ctx context.Context, env lineage.Env, part int) error {
			if part == 0 {
				once.Do(func() { close(first) })
				return nil
			}
			<-first
			kill.Do(func() { cluster.Kill("local-0") })
			return nil
		}
		job, result := schedulertest.Collect(final)
		if err := s.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(result.Rows(), want); diff != "" {
			t.Errorf("rows (-got +want):\n%s", diff)
		}
		if diff := cmp.Diff(result.Times(), []int{1, 1}); diff != "" {
			t.Errorf("results per partition (-got +want):\n%s", diff)
		}
		s.Close()
		reruns := 0
		for p := range 4 {
			times, again := 0, 0
			if count.on[fmt.Sprintf("map.0/%d", p)] == "local-0" {
				times = 1
			}
			for attempt := 1; attempt < 5; attempt++ {
				again += count.starts[fmt.Sprintf("map.%d/%d", attempt, p)]
			}
			if got := count.starts[fmt.Sprintf("map.0/%d", p)]; got != 1 || again != times {
				t.Errorf("map partition %d ran %d times, then %d times again, want 1 and %d", p, got, again, times)
			}
			reruns += again
		}
		if reruns != 2 {
			t.Errorf("%d of 4 map tasks ran again, want 2", reruns)
		}
		if diff := cmp.Diff(count.ends, count.starts); diff != "" {
			t.Errorf("attempts ended (-) and started (+):\n%s", diff)
		}
	})
}

func TestPersistedPartitionsAreComputedOnce(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		opts.Executors, opts.Slots = 2, 2
		cluster := local.New(opts)
		s := scheduler.New(cluster, scheduler.Options{})
		defer s.Close()
		g := new(schedulertest.Graph)
		src, _ := evens(g)
		var computed atomic.Int32
		src.Hook = func(context.Context, lineage.Env, int) error { computed.Add(1); return nil }
		src.Persist()
		run := func(want int32) {
			t.Helper()
			job, _ := schedulertest.Collect(g.Map("same", src, func(r int64) int64 { return r }))
			if err := s.Run(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			if got := computed.Load(); got != want {
				t.Errorf("%d computations so far, want %d", got, want)
			}
		}
		run(4)
		run(4)
		t.Run("C25_a_lost_executor_costs_its_two", func(t *testing.T) {
			if !cluster.Kill("local-0") {
				t.Fatal("no executor to kill")
			}
			run(6)
		})
	})
}

func TestCancel(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		s := scheduler.New(local.New(opts), scheduler.Options{})
		defer s.Close()
		g := new(schedulertest.Graph)
		src := g.Source("source", 2, func(int) []int64 { return nil })
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 8)
		src.Hook = func(ctx context.Context, env lineage.Env, part int) error {
			cancel(errors.New("batch given up"))
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		}
		job, _ := schedulertest.Collect(g.Shuffle("final", src, 2))
		err := s.Run(ctx, job)
		var canceled *scheduler.CanceledError
		if !errors.As(err, &canceled) || !errors.Is(err, context.Canceled) || canceled.Cause.Error() != "batch given up" {
			t.Errorf("got %v, want a canceled error with the cause", err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the task saw %v", err)
		}
		// Tasks of the cancelled job may still be on their way out, so its nodes are left alone.
		other, _ := evens(new(schedulertest.Graph))
		if job, _ := schedulertest.Collect(other); s.Run(t.Context(), job) != nil {
			t.Error("the scheduler is not usable after a cancelled job")
		}
		if job, _ := schedulertest.Collect(other); !errors.Is(s.Run(ctx, job), context.Canceled) {
			t.Error("a job ran under a context that had ended")
		}
	})
}

func TestJobsOfManyGoroutines(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		opts.Executors, opts.Slots = 2, 1
		s := scheduler.New(local.New(opts), scheduler.Options{})
		defer s.Close()
		g := new(schedulertest.Graph)
		src, want := evens(g)
		shared := g.Shuffle("shared", src, 2)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				job, result := schedulertest.Collect(shared)
				if err := s.Run(t.Context(), job); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(result.Rows(), want); diff != "" {
					t.Errorf("rows (-got +want):\n%s", diff)
				}
			})
		}
		wg.Wait()
	})
}

package rdd

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// heard is what a listener was told. Its events come some time after the fact, so take waits until
// every goroutine of the bubble has nothing left to do.
type heard struct {
	mu     sync.Mutex // guards stages and tasks
	stages []scheduler.StageSubmitted
	tasks  int
}

func (h *heard) listener() scheduler.Listener {
	return scheduler.Listener{
		StageSubmitted: func(s scheduler.StageSubmitted) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.stages = append(h.stages, s)
		},
		TaskStarted: func(scheduler.TaskStarted) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.tasks++
		},
	}
}

// take returns the tasks of each stage submitted since the last call, and all tasks started.
func (h *heard) take() (stages []int, tasks int) {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.stages {
		stages = append(stages, s.Tasks)
	}
	tasks, h.stages, h.tasks = h.tasks, nil, 0
	return stages, tasks
}

// inBubble runs test on a scheduler with so many executors inside a synctest bubble.
func inBubble(t *testing.T, executors int, test func(t *testing.T, c *Context, runner *localRunner, h *heard)) {
	synctest.Test(t, func(t *testing.T) {
		h := new(heard)
		runner := newLocalRunner(t, executors, false, h.listener())
		test(t, newTestContext(t, runner, Options{}), runner, h)
	})
}

func TestStages(t *testing.T) {
	t.Run("C34 a shuffle that is there is not written again", func(t *testing.T) {
		inBubble(t, 1, func(t *testing.T, c *Context, _ *localRunner, h *heard) {
			x := ReduceByKey(Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 2), kv(3, 3)}, 3), add[int], NumPartitions(2))
			for i, want := range [][]int{{3, 2}, {2}} {
				must(x.Count(t.Context()))
				got, _ := h.take()
				same(t, []string{"first job", "second job"}[i], got, want)
			}
		})
	})
	t.Run("C35 nothing above a kept RDD runs", func(t *testing.T) {
		inBubble(t, 1, func(t *testing.T, c *Context, _ *localRunner, h *heard) {
			a := Map(Parallelize(c, upTo(8), 4), func(x int) Pair[int, int] { return kv(x%4, x) })
			kept := MapValues(ReduceByKey(a, add[int], NumPartitions(2)), func(x int) int { return -x }).Cache()
			must(kept.Count(t.Context()))
			h.take()
			must(Map(kept, func(p Pair[int, int]) int { return p.Value }).Count(t.Context()))
			got, _ := h.take()
			same(t, "job on what derives from it", got, []int{2})
		})
	})
	t.Run("C25 an executor is lost with half of what is kept", func(t *testing.T) {
		inBubble(t, 2, func(t *testing.T, c *Context, runner *localRunner, h *heard) {
			// The four tasks wait for each other, so that each executor runs, and keeps, two.
			var calls, waiting atomic.Int64
			all := make(chan struct{})
			r := Map(Parallelize(c, upTo(4), 4), func(x int) int {
				calls.Add(1)
				if waiting.Add(1) == 4 {
					close(all)
				}
				<-all
				return x
			}).Cache()
			for _, want := range []int64{4, 6} {
				if n := must(r.Count(t.Context())); n != 4 {
					t.Errorf("count %d, want 4", n)
				}
				if calls.Load() != want {
					t.Errorf("%d partitions computed, want %d", calls.Load(), want)
				}
				if want == 4 {
					runner.cluster.Kill(runner.cluster.Executors()[0])
				}
			}
		})
	})
	t.Run("a lost executor's map outputs are written again", func(t *testing.T) {
		inBubble(t, 3, func(t *testing.T, c *Context, runner *localRunner, h *heard) {
			r := ReduceByKey(Map(Parallelize(c, upTo(60), 6), func(x int) Pair[int, int] { return kv(x%5, x) }), add[int], NumPartitions(3))
			want := collect(t, r)
			for range 2 {
				runner.cluster.Kill(runner.cluster.Executors()[0])
				same(t, "sums", collect(t, r), want)
			}
		})
	})
	t.Run("C12 sampling is a job of its own", func(t *testing.T) {
		inBubble(t, 1, func(t *testing.T, c *Context, _ *localRunner, h *heard) {
			r := must(SortBy(t.Context(), Parallelize(c, upTo(4), 2), func(x int) int { return -x }))
			got, _ := h.take()
			same(t, "sampling", got, []int{2})
			must(r.Count(t.Context()))
			got, _ = h.take()
			same(t, "sort", got, []int{2, 2})
		})
	})
	t.Run("C19 grouped pairs are grouped without a shuffle", func(t *testing.T) {
		inBubble(t, 1, func(t *testing.T, c *Context, _ *localRunner, h *heard) {
			g := GroupByKey(Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 2)}, 2), NumPartitions(2))
			must(GroupByKey(g).Count(t.Context()))
			got, _ := h.take()
			same(t, "stages", got, []int{2, 2})
		})
	})
}

// L6: graphs that share nodes over and over plan in the time of their size.
func TestDiamondLineage(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	r := PartitionBy(Parallelize(c, []Pair[int, int]{kv(1, 1)}, 2), Hash[int](2))
	for range 30 {
		r = r.Union(r)
	}
	start := time.Now()
	stages := lineage.Cut(r.Node())
	text := r.DebugString()
	if took := time.Since(start); took > time.Second {
		t.Errorf("planning took %s", took)
	}
	if len(stages) != 2 || sizeOf(t, r) != 2 || len(text) == 0 {
		t.Errorf("%d stages, %d partitions", len(stages), sizeOf(t, r))
	}
}

// A lineage of many thousand operators, as a long stream makes, can be evaluated.
func TestDeepLineage(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, upTo(3), 1)
		for range 5000 {
			r = r.Filter(func(int) bool { return true })
		}
		same(t, "rows", collect(t, r), upTo(3))
	})
}

func TestDebugString(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	view := c.In(lineage.Scope{}, "main.go:3", 0)
	r := ReduceByKey(Map(Parallelize(view, upTo(4), 4), func(x int) Pair[int, int] { return kv(x, x) }), add[int], NumPartitions(2))
	same(t, "lineage", r.DebugString(), "(2) reduceByKey[3] main.go:3\n +-(4) map[2] main.go:3\n    |  parallelize[1] main.go:3\n")
	if r.String() != "reduceByKey[3]" || r.Context() != view || !r.Same(r.In(c)) || r.In(c).Context() != c {
		t.Errorf("handle %s", r)
	}
}

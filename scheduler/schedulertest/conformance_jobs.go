package schedulertest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// The cases of RunBackend that put a scheduler on top of the backend.

// chain returns a graph of two shuffles over 40 rows, and its rows.
func chain() (mid, final *Node, want [][]int64) {
	g := new(Graph)
	src := g.Source("source", 4, func(part int) []int64 {
		var rows []int64
		for i := range 10 {
			rows = append(rows, int64(10*part+i))
		}
		return rows
	})
	mid = g.Shuffle("middle", src, 3)
	final = g.Shuffle("final", g.Map("double", mid, func(r int64) int64 { return 2 * r }), 2)
	want = make([][]int64, 2)
	for m := range 3 {
		for r := int64(0); r < 40; r++ {
			if r%3 == int64(m) {
				want[0] = append(want[0], 2*r)
			}
		}
	}
	return mid, final, want
}

func testShuffle(t *testing.T, factory func(executors, slots int) Cluster) {
	s := scheduler.New(factory(3, 2), scheduler.Options{})
	defer s.Close()
	_, final, want := chain()
	job, result := Collect(final)
	if err := s.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result.Rows()[0], want[0]); diff != "" || len(result.Rows()[1]) != 0 {
		t.Errorf("rows (-got +want):\n%s", diff)
	}
}

func testLostOutputs(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(3, 2)
	// The first job's launches show what the executors are called.
	launches := make(chan scheduler.ExecutorID, 12)
	s := scheduler.New(&spy{Backend: c, on: launches}, scheduler.Options{})
	defer s.Close()
	job, _ := Collect(new(Graph).Source("where", 12, func(int) []int64 { return nil }))
	if err := s.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	var ids []scheduler.ExecutorID
	for len(launches) > 0 {
		if id := <-launches; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	mid, final, want := chain()
	var once sync.Once
	mid.Hook = func(ctx context.Context, env lineage.Env, part int) error {
		if part == 1 {
			once.Do(func() {
				for _, id := range ids {
					c.Kill(id)
				}
				c.Add()
			})
		}
		return nil
	}
	job, result := Collect(final)
	if err := s.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result.Rows()[0], want[0]); diff != "" {
		t.Errorf("rows (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(result.Times(), []int{1, 1}); diff != "" {
		t.Errorf("results per partition (-got +want):\n%s", diff)
	}
}

// A spy tells where tasks are launched.
type spy struct {
	scheduler.Backend
	on chan scheduler.ExecutorID
}

func (s *spy) Launch(task *scheduler.Task) {
	select {
	case s.on <- task.Executor:
	default: // only the first launches are of interest
	}
	s.Backend.Launch(task)
}

func testDrop(t *testing.T, factory func(executors, slots int) Cluster) {
	s := scheduler.New(factory(2, 2), scheduler.Options{})
	defer s.Close()
	g := &Graph{Scope: lineage.Scope{Batch: 1000, Stream: 1}}
	computed := make(chan int, 100)
	src := g.Source("source", 2, func(part int) []int64 { return []int64{int64(part)} }).Persist()
	src.Hook = func(ctx context.Context, env lineage.Env, part int) error {
		computed <- part
		return nil
	}
	run := func(want int) {
		t.Helper()
		job, result := Collect(src)
		if err := s.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(result.Rows(), [][]int64{{0}, {1}}); diff != "" {
			t.Errorf("rows (-got +want):\n%s", diff)
		}
		if got := len(computed); got != want {
			t.Errorf("%d partitions computed so far, want %d", got, want)
		}
	}
	run(2)
	run(2)
	s.Drop(lineage.Drop{Nodes: []lineage.NodeID{src.ID()}})
	run(4)
	s.Drop(lineage.Drop{Scopes: []lineage.Scope{lineage.Scope{Batch: 1000, Stream: 2}}})
	run(4)
	s.Drop(lineage.Drop{Scopes: []lineage.Scope{g.Scope}})
	run(6)
}

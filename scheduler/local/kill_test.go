package local_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// TestRandomKills loses executors at random points inside tasks, about a thousand in all, and
// demands the rows and the delivery of a run without losses. A failure prints its seed.
func TestRandomKills(t *testing.T) {
	kills := 0
	for seed := uint64(1); kills < 1000 && seed < 2000; seed++ {
		kills += killRun(t, seed, seed%2 == 0)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if kills < 1000 {
		t.Errorf("only %d executors were killed", kills)
	}
}

// killRun runs one job of four stages and returns how many executors were killed.
func killRun(t *testing.T, seed uint64, isolate bool) (kills int) {
	cluster := local.New(local.Options{Executors: 3, Slots: 2, Isolate: isolate})
	s := scheduler.New(cluster, scheduler.Options{MaxStageFailures: 1000})
	defer s.Close()
	g := new(schedulertest.Graph)
	src, _ := evens(g)
	first := g.Shuffle("first", src, 3)
	kept := g.Map("kept", first, func(r int64) int64 { return r + 1 }).Persist()
	second := g.Shuffle("second", kept, 5)
	both := g.Union("both", second, kept)
	final := g.Shuffle("final", both, 2)

	var mu sync.Mutex // guards rng, kills and budget
	rng := rand.New(rand.NewPCG(seed, 7))
	budget := 12
	hook := func(ctx context.Context, env lineage.Env, part int) error {
		mu.Lock()
		defer mu.Unlock()
		if budget == 0 || rng.IntN(3) > 0 {
			return nil
		}
		budget--
		ids := cluster.Executors()
		if len(ids) > 0 && cluster.Kill(ids[rng.IntN(len(ids))]) {
			kills++
		}
		cluster.Add()
		return nil
	}
	for _, n := range []*schedulertest.Node{src, first, kept, second, both, final} {
		n.Hook = hook
	}

	want := make([][]int64, 2)
	for round := range 2 { // the rows of second by its partitions, then those of kept
		n := []int64{5, 3}[round]
		for p := range n {
			// Rows of second arrive by partition of kept, those of kept in order.
			for k := range int64(3) {
				for r := int64(0); r < 40; r++ {
					row := r + 1
					if r%3 != k || round == 0 && row%5 != p || round == 1 && k != p {
						continue
					}
					want[row%2] = append(want[row%2], row)
				}
			}
		}
	}
	for range 2 { // the second job finds some of the outputs
		job, result := schedulertest.Collect(final)
		job.Trimmed = seed%3 == 0
		if err := s.Run(t.Context(), job); err != nil {
			t.Error(err)
			return kills
		}
		if diff := cmp.Diff(result.Rows(), want); diff != "" {
			t.Errorf("rows (-got +want):\n%s", diff)
		}
		if diff := cmp.Diff(result.Times(), []int{1, 1}); diff != "" {
			t.Errorf("results per partition (-got +want):\n%s", diff)
		}
	}
	return kills
}

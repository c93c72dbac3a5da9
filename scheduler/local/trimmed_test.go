package local_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// TestTrimmedJobs shows that a trimmed job lists only the stages that have to run, whatever the length
// of the lineage, and still recovers when what it relied on is lost.
func TestTrimmedJobs(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		opts.Executors, opts.Slots = 2, 1
		cluster := local.New(opts)
		stages, ended := make(chan int, 100), make(chan struct{}, 100)
		s := scheduler.New(cluster, scheduler.Options{Listeners: []scheduler.Listener{{
			JobStarted: func(ev scheduler.JobStarted) { stages <- len(ev.Stages) },
			JobEnded:   func(scheduler.JobEnded) { ended <- struct{}{} },
		}}})
		defer s.Close()
		run := func(n *schedulertest.Node, trimmed bool) ([][]int64, int) {
			t.Helper()
			job, result := schedulertest.Collect(n)
			job.Trimmed = trimmed
			if err := s.Run(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			<-ended
			return result.Rows(), <-stages
		}

		g := new(schedulertest.Graph)
		node, _ := evens(g)
		for range 20 {
			node = g.Shuffle("step", node, 2)
			node.Persist()
			if _, n := run(node, true); n > 2 {
				t.Errorf("a step over a kept one has %d stages, want 2 at most", n)
			}
		}
		want, n := run(node, false)
		if n != 21 {
			t.Errorf("a job that is not trimmed lists %d stages, want 21", n)
		}
		last := g.Shuffle("last", node, 2)
		for _, id := range cluster.Executors() { // all that was kept goes
			cluster.Kill(id)
		}
		cluster.Add()
		got, n := run(last, true)
		if n < 2 {
			t.Errorf("%d stages", n)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("rows after the loss (-got +want):\n%s", diff)
		}
	})
}

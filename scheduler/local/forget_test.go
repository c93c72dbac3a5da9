package local_test

import (
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestForgottenBatchesLeaveNothing(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		opts.Executors, opts.Slots = 2, 2
		cluster := local.New(opts)
		s := scheduler.New(cluster, scheduler.Options{})
		defer s.Close()
		var last *schedulertest.Node // each batch builds on the one before, as a state does
		for batch := int64(1); batch <= 50; batch++ {
			g := &schedulertest.Graph{Scope: lineage.Scope{Batch: batch, Stream: 1}}
			src, _ := evens(g)
			if last != nil {
				src = g.Union("with_last", src, last)
			}
			last = g.Shuffle("state", g.Source("reset", 2, func(int) []int64 { return []int64{batch} }), 2).Persist()
			for _, n := range []*schedulertest.Node{g.Shuffle("counts", src, 2), last} {
				job, _ := schedulertest.Collect(n)
				if err := s.Run(t.Context(), job); err != nil {
					t.Fatal(err)
				}
			}
			if batch > 1 {
				s.Drop(lineage.Drop{Scopes: []lineage.Scope{lineage.Scope{Batch: batch - 1, Stream: 1}}})
			}
		}
		check := func(wantOutputs, wantPersisted int) {
			t.Helper()
			// What was asked before a job is done before it.
			if err := s.Run(t.Context(), emptyJob(1)); err != nil {
				t.Fatal(err)
			}
			if o, p := cluster.Blocks(); o != wantOutputs || p != wantPersisted {
				t.Errorf("%d outputs and %d persisted partitions are held, want %d and %d", o, p, wantOutputs, wantPersisted)
			}
		}
		check(4+2+2, 2) // of the last batch: sources and the state before, the reset; the state
		s.Drop(lineage.Drop{Nodes: []lineage.NodeID{last.ID()}})
		check(4+2+2, 0)
		s.Drop(lineage.Drop{Scopes: []lineage.Scope{lineage.Scope{Batch: 50, Stream: 1}}})
		check(0, 0)
	})
}

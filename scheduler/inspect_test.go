package scheduler_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestInspectSaysWhatIsHeld(t *testing.T) {
	g := new(schedulertest.Graph)
	src := g.Source("source", 3, func(part int) []int64 { return []int64{int64(part)} })
	node := g.Shuffle("counts", src, 2).Persist()
	id := lineage.ShuffleID{Node: node.ID()}
	s := scheduler.New(local.New(local.Options{Executors: 2}), scheduler.Options{})
	defer s.Close()
	check := func(when string, wantKept []bool, wantHave, wantMaps int) {
		t.Helper()
		if diff := cmp.Diff(wantKept, s.Kept(node.ID())); diff != "" {
			t.Errorf("%s: kept (-want +got):\n%s", when, diff)
		}
		if have, maps := s.Written(id); have != wantHave || maps != wantMaps {
			t.Errorf("%s: %d of %d written, want %d of %d", when, have, maps, wantHave, wantMaps)
		}
	}
	check("before anything ran", nil, 0, 0)
	job, _ := schedulertest.Collect(node)
	job.Parts = []int{1}
	if err := s.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	check("after a job on one partition", []bool{false, true}, 3, 3)
	s.Drop(lineage.Drop{Nodes: []lineage.NodeID{node.ID()}})
	check("after the node was dropped", []bool{}, 3, 3)
	s.Drop(lineage.Drop{Shuffles: []lineage.ShuffleID{id}})
	check("after the shuffle was dropped", []bool{}, 0, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check("after Close", nil, 0, 0)
}

// Nobody may wait for an answer for ever, whenever the scheduler is closed.
func TestInspectWhileTheSchedulerCloses(t *testing.T) {
	for range 50 {
		s := scheduler.New(local.New(local.Options{}), scheduler.Options{})
		job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("source", 1, func(int) []int64 { return nil }))
		if err := s.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			for range 20 {
				s.Kept(lineage.NodeID{})
			}
		}()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		<-asked
	}
}

package scheduler_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// heard counts the starts and ends of jobs that a listener is told of.
type heard struct {
	mu            sync.Mutex
	started, over int
}

func (h *heard) listener() *scheduler.Listener {
	return &scheduler.Listener{
		JobStarted: func(scheduler.JobStarted) { h.mu.Lock(); defer h.mu.Unlock(); h.started++ },
		JobEnded:   func(scheduler.JobEnded) { h.mu.Lock(); defer h.mu.Unlock(); h.over++ },
	}
}

func (h *heard) counts() [2]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return [2]int{h.started, h.over}
}

func numbers(part int) []int64 { return []int64{int64(part)} }
func same(row int64) int64     { return row }

func TestListenersComeAndGo(t *testing.T) {
	s := scheduler.New(local.New(local.Options{}), scheduler.Options{})
	run := func() {
		t.Helper()
		job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("source", 2, numbers))
		if err := s.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	var before, during, brief, never heard
	b, d, n := before.listener(), during.listener(), never.listener()
	s.AddListener(b)
	s.AddListener(b) // once is enough
	s.AddListener(n)
	s.AddListener(nil)
	s.RemoveListener(n)
	run()
	s.AddListener(d)
	run()
	for range 1000 { // a viewer that comes and goes leaves nothing behind
		l := brief.listener()
		s.AddListener(l)
		s.RemoveListener(l)
		s.RemoveListener(l)
	}
	s.RemoveListener(d)
	s.RemoveListener(d)
	run()
	scheduler.AwaitDeliveries(s)
	s.AddListener(b) // lets go of those that have ended
	if n := scheduler.Deliveries(s); n != 1 {
		t.Errorf("%d listeners are known, want the one that was there before", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.AddListener(d)
	s.RemoveListener(b)
	for name, c := range map[string]struct{ got, want [2]int }{
		"before the first job": {before.counts(), [2]int{3, 3}},
		"between":              {during.counts(), [2]int{1, 1}},
		"in between":           {brief.counts(), [2]int{}},
		"never":                {never.counts(), [2]int{}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v jobs started and ended, want %v", name, c.got, c.want)
		}
	}
}

func TestRemovedListenersAreLetGoOf(t *testing.T) {
	s := scheduler.New(local.New(local.Options{}), scheduler.Options{})
	defer s.Close()
	job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("source", 1, numbers))
	if err := s.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		l := &scheduler.Listener{}
		s.AddListener(l)
		s.RemoveListener(l)
		scheduler.AwaitDeliveries(s)
	}
	s.AddListener(&scheduler.Listener{})
	if n := scheduler.Deliveries(s); n != 1 {
		t.Errorf("%d listeners are known", n)
	}
}

func TestJobsStartWithTheirRDDs(t *testing.T) {
	g := new(schedulertest.Graph)
	words := g.Map("words", g.Source("lines", 2, numbers), same)
	counts := g.Shuffle("counts", words, 1)
	var got []string
	s := scheduler.New(local.New(local.Options{}), scheduler.Options{Listeners: []scheduler.Listener{{
		JobStarted: func(e scheduler.JobStarted) {
			for i, rdds := range e.RDDs {
				for _, r := range rdds {
					got = append(got, fmt.Sprintf("stage %d: %s[%s] %s of %v", e.Stages[i].Stage, r.Op, r.ID, r.Site, r.Parents))
				}
			}
		},
	}}})
	job, _ := schedulertest.Collect(counts)
	if err := s.Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"stage 0: words[1] words.go:1 of [0]",
		"stage 0: lines[0] lines.go:1 of []",
		"stage 1: counts[2] counts.go:1 of [1]",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("RDDs (-got +want):\n%s", diff)
	}
}

func TestALongLineageIsCutShort(t *testing.T) {
	g := new(schedulertest.Graph)
	node := g.Source("source", 1, numbers)
	for range 1000 {
		node = g.Map("map", node, same)
	}
	told := make(chan int, 1)
	s := scheduler.New(local.New(local.Options{}), scheduler.Options{Listeners: []scheduler.Listener{{
		JobStarted: func(e scheduler.JobStarted) { told <- len(e.RDDs[0]) },
	}}})
	defer s.Close()
	job, _ := schedulertest.Collect(node)
	if err := s.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if n := <-told; n != scheduler.MaxStageRDDs {
		t.Errorf("%d RDDs", n)
	}
}

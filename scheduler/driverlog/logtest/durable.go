package logtest

import (
	"sync"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// same compares the applications before and after a log was opened again: it may have begun a term, and nothing else.
func (s *suite) same(want driverlog.State) {
	s.Helper()
	got := s.state()
	if diff := cmp.Diff(want.Apps, got.Apps, cmpopts.EquateEmpty()); diff != "" {
		s.Fatalf("applications after opening again (-want +got):\n%s", diff)
	}
}

func reopenedLife(s *suite, r Reopener) {
	s.ok(s.application(app, 0, "graph"))
	for i := range int64(4) {
		s.run(300*i, 300*i+300)
		s.ok(s.checkpointed(app, 300*i+290, 300*i+200, "files"))
		want := s.state()
		s.log = r.Reopen(s.T, s.log)
		s.same(want)
		s.epoch = s.lead().Epoch
	}
}

func crashing(s *suite, c Crasher) {
	s.ok(s.application(app, 3, "graph"))
	begin := s.begin(app, 0, 0)
	begin.Request = driverlog.RequestID{Proposer: 1, Seq: 1}
	begin.Inputs = []driverlog.Input{{Stream: 1, Data: []byte("input")}}
	s.ok(begin)
	s.ok(s.prepared(app, 0, "m"))
	s.ok(s.committed(app, 0))
	s.all(s.begin(app, 1, 1), s.prepared(app, 1, "m"), s.committed(app, 1))
	s.ok(s.checkpointed(app, 1, 1, "files"))
	s.ok(s.begin(app, 2, 2))
	want := s.state()
	old := *s
	s.log = c.Crash(s.T, s.log)
	s.same(want)
	s.epoch = s.lead().Epoch
	if s.epoch <= old.epoch {
		s.Fatalf("epoch %d follows %d", s.epoch, old.epoch)
	}
	refused[*driverlog.FencedError](s, old.prepared(app, 2, "m"))
	begin.Epoch = s.epoch
	if res := s.ok(begin); !res.Duplicate {
		s.Error("a request was forgotten by a crash")
	}
	s.ok(s.prepared(app, 2, "m"))
}

func crashedCommits(s *suite, c Crasher) {
	for id := range int64(3) {
		s.ok(s.begin(app, id, id))
		s.ok(s.prepared(app, id, "m"))
	}
	s.ok(s.committed(app, 0))
	s.ok(s.begin(app, 3, 3))
	s.ok(s.committed(app, 1))
	s.ok(s.committed(app, 2))
	s.log = c.Crash(s.T, s.log)
	state := s.state()
	a := state.App(app)
	if a.Next != 4 || a.Oldest() < 1 || a.Oldest() > 3 {
		s.Fatalf("next %d, oldest %d; want 4 and one of 1 to 3", a.Next, a.Oldest())
	}
	for id := a.Oldest(); id < 3; id++ {
		if b, _ := a.Batch(id); b.Prepared == 0 || string(b.Manifest) != "m" {
			s.Errorf("batch %d: %+v, want it prepared", id, b)
		}
	}
	s.epoch = s.lead().Epoch
	for id := range int64(3) { // as a new leader rolls forward
		s.ok(s.committed(app, id))
	}
}

func crashedLife(s *suite, c Crasher) {
	s.ok(s.application(app, 0, "graph"))
	for i := range int64(4) {
		s.run(300*i, 300*i+300)
		s.ok(s.checkpointed(app, 300*i+290, 300*i+200, "files"))
		want := s.state()
		s.log = c.Crash(s.T, s.log)
		s.same(want)
		s.epoch = s.lead().Epoch
	}
}

// copying copies the log over and over while batches run. A copy that opens must be a state that the log went through while
// it was copied, and go on.
func copying(s *suite, c Copier) {
	const enough = 10 // whole copies
	var done atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	s.ok(s.application(app, 0, "graph"))
	wg.Go(func() {
		for id := int64(0); !stop.Load(); id++ {
			cmds := []driverlog.Command{s.begin(app, id, id), s.prepared(app, id, "m"), s.committed(app, id)}
			if id%100 == 99 {
				cmds = append(cmds, s.checkpointed(app, id, id, "files"))
			}
			if _, err := s.log.ProposeAll(s.ctx, cmds); err != nil {
				s.Errorf("ProposeAll beside a copy: %v", err)
				return
			}
			done.Store(id + 1)
		}
	})
	whole, tries := 0, 0
	for ; whole < enough && tries < 400 && !s.Failed(); tries++ {
		before := done.Load()
		log, err := c.Copy(s.T, s.log)
		after := done.Load() + 1
		if err != nil {
			continue
		}
		whole++
		state, err := log.State(s.ctx)
		if err != nil {
			s.Errorf("State of a copy: %v", err)
		}
		if a := state.App(app); a.Next < before || a.Next > after || len(a.Open) != 0 {
			s.Errorf("a copy has %d batches with %d open, want %d to %d with none", a.Next, len(a.Open), before, after)
		}
		if _, err := log.Lead(s.ctx); err != nil {
			s.Errorf("Lead of a copy: %v", err)
		}
		if err := log.Close(); err != nil {
			s.Errorf("Close of a copy: %v", err)
		}
	}
	stop.Store(true)
	wg.Wait()
	s.Logf("%d of %d copies were whole", whole, tries)
	if whole == 0 {
		s.Error("no copy was whole")
	}
}

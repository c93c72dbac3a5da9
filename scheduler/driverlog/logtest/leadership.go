package logtest

import (
	"context"
	"errors"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// digest is what must not change when nothing has.
func (s *suite) digest() [32]byte {
	s.Helper()
	state := s.state()
	return state.Digest()
}

func refusals(s *suite) {
	s.ok(s.begin(app, 0, 10))
	s.ok(s.prepared(app, 0, "m"))
	s.ok(s.begin(app, 1, 20))
	before := s.digest()
	bad := []driverlog.Command{
		{},
		{Kind: driverlog.LeaderStart},
		{Kind: driverlog.Begin, App: app, Batch: 2, Time: 30},
		{Kind: driverlog.Begin, Epoch: s.epoch + 1, App: app, Batch: 2, Time: 30},
		{Kind: driverlog.Begin, Epoch: s.epoch, Batch: 2, Time: 30},
		s.begin(app, 3, 30),
		s.begin(app, 2, 20),
		s.begin(app, -1, 30),
		s.prepared(app, 0, "another"),
		s.prepared(app, 2, "m"),
		s.committed(app, 1),
		s.prepared("other", 0, "m"),
		s.checkpointed(app, 0, 0, "of an application that is not registered"),
		s.checkpointed(app, 0, 2, "that keeps past its batch"),
		{Kind: driverlog.Application, App: app},
	}
	big := s.begin(app, 2, 30)
	big.Inputs = []driverlog.Input{{Data: make([]byte, driverlog.MaxPayload+1)}}
	for _, cmd := range append(bad, big) {
		cmd.Request = driverlog.RequestID{Proposer: 1, Seq: 1}
		if _, err := s.log.Propose(s.ctx, cmd); !driverlog.Refused(err) {
			s.Errorf("Propose(%+v) = %v, want a refusal", cmd, err)
		}
		if s.digest() != before {
			s.Fatalf("refused command %+v changed the state", cmd)
		}
	}
	// A refusal does not use up its request id.
	cmd := s.begin(app, 2, 30)
	cmd.Request = driverlog.RequestID{Proposer: 1, Seq: 1}
	if res := s.ok(cmd); res.Duplicate {
		s.Error("a refused request was remembered")
	}
}

func fencing(s *suite) {
	old := *s
	s.ok(s.begin(app, 0, 1))
	s.epoch = s.start("other")
	if s.epoch <= old.epoch {
		s.Fatalf("epoch %d follows %d", s.epoch, old.epoch)
	}
	if got := s.state(); got.Leader != "other" || got.Epoch != s.epoch {
		s.Errorf("leader %q of epoch %d, want other of %d", got.Leader, got.Epoch, s.epoch)
	}
	for _, cmd := range []driverlog.Command{old.begin(app, 1, 2), old.prepared(app, 0, "m"), old.committed(app, 0),
		old.application(app, 0, ""), old.checkpointed(app, 0, 0, "")} {
		if e := refused[*driverlog.FencedError](s, cmd); e.Have != s.epoch || e.Got != old.epoch {
			s.Errorf("%s: %+v, want Have %d, Got %d", cmd.Kind, e, s.epoch, old.epoch)
		}
	}
	s.ok(s.prepared(app, 0, "m"))
	s.ok(s.begin(app, 1, 2))
	s.ok(s.committed(app, 0))
}

func dedup(s *suite) {
	steps := []driverlog.Command{s.begin(app, 0, 1), s.prepared(app, 0, "m"), s.begin(app, 1, 2), s.committed(app, 0)}
	answers := make([]driverlog.Result, len(steps))
	for i := range steps {
		steps[i].Request = driverlog.RequestID{Proposer: s.epoch, Seq: uint64(i)}
		answers[i] = s.ok(steps[i])
	}
	before := s.digest()
	for i := range steps {
		again := s.ok(steps[i])
		if !again.Duplicate {
			s.Errorf("step %d again: Duplicate = false", i)
		}
		again.Duplicate = false
		if again != answers[i] {
			s.Errorf("step %d again = %+v, want %+v", i, again, answers[i])
		}
	}
	if s.digest() != before {
		s.Error("repeated requests changed the state")
	}
	other := s.begin(app, 2, 3)
	other.Request = steps[0].Request
	refused[*driverlog.RequestError](s, other)
}

func dedupAcrossEpochs(s *suite) {
	start := driverlog.Command{Kind: driverlog.LeaderStart, Node: "other", Request: driverlog.RequestID{Proposer: 7, Seq: 1}}
	first := s.ok(start)
	s.epoch = first.Epoch
	begin := s.begin(app, 0, 1)
	begin.Request = driverlog.RequestID{Proposer: 7, Seq: 2}
	begun := s.ok(begin)
	s.epoch = s.start("third")
	if again := s.ok(start); !again.Duplicate || again.Epoch != first.Epoch {
		s.Errorf("leader start again = %+v, want a duplicate of epoch %d", again, first.Epoch)
	}
	if again := s.ok(begin); !again.Duplicate || again.Index != begun.Index || again.Epoch != first.Epoch {
		s.Errorf("begin again = %+v, want a duplicate of %+v", again, begun)
	}
	if got := s.state().Epoch; got != s.epoch {
		s.Errorf("epoch %d after repeated requests, want %d", got, s.epoch)
	}
}

func sharedTerm(s *suite) {
	first := s.lead()
	if again := s.lead(); again.Epoch != first.Epoch {
		s.Errorf("Lead twice in one term = %d, %d", first.Epoch, again.Epoch)
	}
	select {
	case <-first.Lost:
		s.Error("the term is lost at once")
	default:
	}
	if got := s.state().Epoch; got != first.Epoch {
		s.Errorf("state has epoch %d, term has %d", got, first.Epoch)
	}
}

func deposing(s *suite, d Deposer) {
	term := s.lead()
	old := *s
	s.ok(s.begin(app, 0, 1))
	d.Depose(s.T, s.log)
	<-term.Lost
	s.epoch = s.lead().Epoch
	if s.epoch <= old.epoch {
		s.Fatalf("epoch %d follows %d", s.epoch, old.epoch)
	}
	refused[*driverlog.FencedError](s, old.prepared(app, 0, "m"))
	s.ok(s.prepared(app, 0, "m"))
}

func whileLeading(s *suite, d Deposer) {
	var epochs []uint64
	end := errors.New("end")
	err := driverlog.WhileLeading(s.ctx, s.log, func(ctx context.Context, epoch uint64) error {
		epochs = append(epochs, epoch)
		if len(epochs) == 3 {
			return end
		}
		d.Depose(s.T, s.log)
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, end) {
		s.Errorf("WhileLeading = %v, want %v", err, end)
	}
	if len(epochs) != 3 || epochs[0] >= epochs[1] || epochs[1] >= epochs[2] {
		s.Errorf("epochs %v, want three that rise", epochs)
	}
}

func reopening(s *suite, r Reopener) {
	for id := range int64(4) {
		cmd := s.begin(app, id, id)
		cmd.Inputs = []driverlog.Input{{Stream: 1, Data: []byte{byte(id)}}}
		cmd.Request = driverlog.RequestID{Proposer: 1, Seq: uint64(id)}
		s.ok(cmd)
	}
	s.ok(s.prepared(app, 0, "m0"))
	s.ok(s.committed(app, 0))
	s.ok(s.prepared(app, 1, "m1"))
	s.ok(s.application(app, -7, "graph"))
	s.ok(s.committed(app, 1))
	want := s.state()
	s.log = r.Reopen(s.T, s.log)
	// The new log may have begun a term by now; nothing else may differ.
	got := s.state()
	if diff := cmp.Diff(want.Apps, got.Apps, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("applications after reopening (-want +got):\n%s", diff)
	}
	s.epoch = s.lead().Epoch
	again := s.begin(app, 3, 3)
	again.Request = driverlog.RequestID{Proposer: 1, Seq: 3}
	if res := s.ok(again); !res.Duplicate {
		s.Error("a request was forgotten by reopening")
	}
	s.ok(s.prepared(app, 2, "m2"))
	s.ok(s.begin(app, 4, 4))
}

func reopenedEpochs(s *suite, r Reopener) {
	for range 3 {
		old := *s
		s.log = r.Reopen(s.T, s.log)
		s.epoch = s.lead().Epoch
		if s.epoch <= old.epoch {
			s.Fatalf("epoch %d follows %d", s.epoch, old.epoch)
		}
		refused[*driverlog.FencedError](s, old.begin(app, 0, 1))
	}
}

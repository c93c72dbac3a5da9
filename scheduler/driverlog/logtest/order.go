package logtest

import (
	"errors"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/leat-io/leat/scheduler/driverlog"
)

const app = "counts"

// refused proposes cmd, which must be refused with an error like want, and returns that error.
func refused[E error](s *suite, cmd driverlog.Command) E {
	s.Helper()
	_, err := s.log.Propose(s.ctx, cmd)
	var e E
	if !errors.As(err, &e) {
		s.Fatalf("Propose(%s, batch %d) = %v, want %T", cmd.Kind, cmd.Batch, err, e)
	}
	if !driverlog.Refused(err) {
		s.Errorf("Refused(%v) = false, want true", err)
	}
	return e
}

func lifeOfABatch(s *suite) {
	inputs := []driverlog.Input{{Stream: 1, Data: []byte("0-10")}, {Stream: 2, Data: []byte("7-9")}}
	for id := range int64(5) {
		cmd := s.begin(app, id, 1000*(id+1))
		cmd.Inputs = inputs
		begun := s.ok(cmd)
		state := s.state()
		got, ok := batchOf(&state, id)
		want := driverlog.Batch{ID: id, Time: 1000 * (id + 1), Epoch: s.epoch, Begun: begun.Index, Inputs: inputs}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); !ok || diff != "" {
			s.Fatalf("batch %d after begin (-want +got):\n%s", id, diff)
		}

		prepared := s.ok(s.prepared(app, id, "manifest"))
		committed := s.ok(s.committed(app, id))
		if !(s.epoch < begun.Index && begun.Index < prepared.Index && prepared.Index < committed.Index) {
			s.Fatalf("indexes %d %d %d %d do not rise", s.epoch, begun.Index, prepared.Index, committed.Index)
		}
		want.Prepared, want.Committed, want.Manifest = prepared.Index, committed.Index, []byte("manifest")
		state = s.state()
		a := state.App(app)
		if diff := cmp.Diff(driverlog.App{Name: app, Next: id + 1, Last: want}, a, cmpopts.EquateEmpty()); diff != "" {
			s.Fatalf("application after batch %d (-want +got):\n%s", id, diff)
		}
	}
}

func batchOf(state *driverlog.State, id int64) (driverlog.Batch, bool) {
	a := state.App(app)
	return a.Batch(id)
}

func copies(s *suite) {
	data := []byte("abc")
	begin := s.begin(app, 0, 1)
	begin.Inputs = []driverlog.Input{{Stream: 1, Data: data}}
	s.ok(begin)
	copy(data, "xyz")
	begin.Inputs[0].Stream = 9
	prepared := s.prepared(app, 0, "def")
	s.ok(prepared)
	copy(prepared.Manifest, "xyz")

	for range 2 {
		state := s.state()
		b, _ := batchOf(&state, 0)
		if len(b.Inputs) != 1 || b.Inputs[0].Stream != 1 || string(b.Inputs[0].Data) != "abc" || string(b.Manifest) != "def" {
			s.Fatalf("inputs %v and manifest %q changed with a slice of a caller", b.Inputs, b.Manifest)
		}
		b.Inputs[0].Data[0], b.Manifest[0] = '!', '!'
		state.Apps[0].Next = 77
	}
}

func overlap(s *suite) {
	for id := range int64(3) {
		s.ok(s.begin(app, id, id))
	}
	if e := refused[*driverlog.OrderError](s, s.prepared(app, 1, "m1")); e.Want != 0 {
		s.Errorf("prepared 1: Want = %d, want 0", e.Want)
	}
	if e := refused[*driverlog.OrderError](s, s.committed(app, 0)); e.Want != -1 {
		s.Errorf("committed 0 before prepared: Want = %d, want -1", e.Want)
	}
	s.ok(s.prepared(app, 0, "m0"))
	s.ok(s.prepared(app, 1, "m1"))
	if e := refused[*driverlog.OrderError](s, s.committed(app, 1)); e.Want != 0 {
		s.Errorf("committed 1: Want = %d, want 0", e.Want)
	}
	s.ok(s.committed(app, 0))
	refused[*driverlog.OrderError](s, s.committed(app, 2))
	s.ok(s.committed(app, 1))
	s.ok(s.prepared(app, 2, "m2"))
	if e := refused[*driverlog.OrderError](s, s.prepared(app, 3, "m3")); e.Want != -1 {
		s.Errorf("prepared 3: Want = %d, want -1", e.Want)
	}
	s.ok(s.committed(app, 2))
	refused[*driverlog.OrderError](s, s.prepared("unknown", 0, "m"))
	refused[*driverlog.OrderError](s, s.committed("unknown", 0))
}

func density(s *suite) {
	if e := refused[*driverlog.DenseError](s, s.begin(app, 1, 1)); e.Want != 0 || e.Got != 1 {
		s.Errorf("first begin: %+v, want Want 0", e)
	}
	s.ok(s.begin(app, 0, 1))
	refused[*driverlog.DenseError](s, s.begin(app, 0, 2))
	if e := refused[*driverlog.DenseError](s, s.begin(app, 2, 2)); e.Want != 1 {
		s.Errorf("second begin: %+v, want Want 1", e)
	}
	s.ok(s.begin("other", 0, 1))
	s.ok(s.begin(app, 1, 2))
}

func timeOrder(s *suite) {
	s.ok(s.begin(app, 0, -5))
	if e := refused[*driverlog.TimeError](s, s.begin(app, 1, -5)); e.Last != -5 {
		s.Errorf("equal time: %+v, want Last -5", e)
	}
	refused[*driverlog.TimeError](s, s.begin(app, 1, -6))
	s.ok(s.begin(app, 1, -4))
	for id := range int64(2) {
		s.ok(s.prepared(app, id, ""))
		s.ok(s.committed(app, id))
	}
	refused[*driverlog.TimeError](s, s.begin(app, 2, -4))
	s.ok(s.begin(app, 2, 1000))
}

func window(s *suite) {
	for id := range int64(driverlog.Window) {
		s.ok(s.begin(app, id, id))
	}
	if e := refused[*driverlog.WindowError](s, s.begin(app, driverlog.Window, driverlog.Window)); e.Open != driverlog.Window || e.Oldest != 0 {
		s.Errorf("begin past the window: %+v, want Open %d, Oldest 0", e, driverlog.Window)
	}
	s.ok(s.prepared(app, 0, "m"))
	refused[*driverlog.WindowError](s, s.begin(app, driverlog.Window, driverlog.Window))
	s.ok(s.committed(app, 0))
	s.ok(s.begin(app, driverlog.Window, driverlog.Window))
}

func conflict(s *suite) {
	s.ok(s.begin(app, 0, 1))
	first := s.ok(s.prepared(app, 0, "m"))
	refused[*driverlog.ConflictError](s, s.prepared(app, 0, "another"))
	s.epoch = s.start("other")
	if again := s.ok(s.prepared(app, 0, "m")); !again.Duplicate || again.Index != first.Index {
		s.Errorf("same manifest again = %+v, want a duplicate of index %d", again, first.Index)
	}
	refused[*driverlog.ConflictError](s, s.prepared(app, 0, "another"))
	done := s.ok(s.committed(app, 0))
	if again := s.ok(s.committed(app, 0)); !again.Duplicate || again.Index != done.Index {
		s.Errorf("committed again = %+v, want a duplicate of index %d", again, done.Index)
	}
	refused[*driverlog.ConflictError](s, s.prepared(app, 0, "another"))
}

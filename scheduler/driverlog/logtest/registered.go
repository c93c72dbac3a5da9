package logtest

import (
	"slices"

	"github.com/leat-io/leat/scheduler/driverlog"
)

func registration(s *suite) {
	s.ok(s.application(app, -5, "graph"))
	state := s.state()
	if a := state.App(app); !a.Registered || a.Zero != -5 || string(a.Description) != "graph" || a.Next != 0 {
		s.Fatalf("application %+v, want it registered with zero time -5", a)
	}
	before := s.digest()
	if res := s.ok(s.application(app, -5, "graph")); !res.Duplicate {
		s.Errorf("the same again = %+v, want a duplicate", res)
	}
	if e := refused[*driverlog.ZeroTimeError](s, s.application(app, 0, "graph")); e.Have != -5 || e.Got != 0 {
		s.Errorf("another zero time: %+v, want Have -5, Got 0", e)
	}
	if s.digest() != before {
		s.Error("a repeated or refused registration changed the state")
	}
	s.ok(s.begin(app, 0, 1))
	s.epoch = s.start("other")
	if res := s.ok(s.application(app, -5, "another graph")); res.Duplicate {
		s.Error("another description was taken for a duplicate")
	}
	state = s.state()
	if a := state.App(app); string(a.Description) != "another graph" || a.Next != 1 {
		s.Errorf("application %+v, want the other description and one batch", a)
	}
}

// run takes batches [from, to) through their life, twenty together as a durable log may be slow; the input of each is its
// id.
func (s *suite) run(from, to int64) {
	s.Helper()
	var cmds []driverlog.Command
	for id := from; id < to; id++ {
		begin := s.begin(app, id, id)
		begin.Inputs = []driverlog.Input{{Stream: 1, Data: []byte{byte(id), byte(id >> 8)}}}
		cmds = append(cmds, begin, s.prepared(app, id, "m"), s.committed(app, id))
		if len(cmds) == 60 || id == to-1 {
			s.all(cmds...)
			cmds = cmds[:0]
		}
	}
}

// kept returns the ids of the kept batches, whose inputs must be theirs.
func (s *suite) kept() []int64 {
	s.Helper()
	state := s.state()
	a := state.App(app)
	ids := []int64{}
	for _, b := range a.Kept {
		if len(b.Inputs) != 1 || string(b.Inputs[0].Data) != string([]byte{byte(b.ID), byte(b.ID >> 8)}) || b.Manifest != nil || b.Committed == 0 {
			s.Errorf("kept batch %+v, want its inputs and no manifest", b)
		}
		if same, ok := a.Batch(b.ID); !ok || same.ID != b.ID {
			s.Errorf("Batch(%d) = %+v, %t", b.ID, same, ok)
		}
		ids = append(ids, b.ID)
	}
	return ids
}

func keeping(s *suite) {
	s.ok(s.application(app, 0, ""))
	s.run(0, 4)
	if got := s.kept(); !slices.Equal(got, []int64{0, 1, 2, 3}) {
		s.Errorf("keeps %v, want 0 to 3", got)
	}
	res := s.ok(s.checkpointed(app, 2, 2, "files"))
	state := s.state()
	want := driverlog.Checkpoint{Batch: 2, Keep: 2, Manifest: []byte("files"), Index: res.Index}
	if got := state.App(app).Checkpoint; got.Batch != want.Batch || got.Keep != want.Keep || string(got.Manifest) != "files" || got.Index != want.Index {
		s.Errorf("checkpoint %+v, want %+v", got, want)
	}
	if got := s.kept(); !slices.Equal(got, []int64{2, 3}) {
		s.Errorf("keeps %v after a checkpoint, want 2 and 3", got)
	}
	s.run(4, 6)
	s.ok(s.checkpointed(app, 5, 6, "more files"))
	if got := s.kept(); len(got) != 0 {
		s.Errorf("keeps %v after the last checkpoint, want none", got)
	}
}

func checkpointOrder(s *suite) {
	refused[*driverlog.CheckpointError](s, s.checkpointed(app, 0, 0, ""))
	s.run(0, 1)
	refused[*driverlog.CheckpointError](s, s.checkpointed(app, 0, 0, ""))
	s.ok(s.application(app, 0, ""))
	s.run(1, 4)
	s.ok(s.begin(app, 4, 4))
	refused[*driverlog.CheckpointError](s, s.checkpointed(app, 4, 0, ""))
	first := s.ok(s.checkpointed(app, 2, 2, "c"))
	if again := s.ok(s.checkpointed(app, 2, 2, "c")); !again.Duplicate || again.Index != first.Index {
		s.Errorf("the same again = %+v, want a duplicate of index %d", again, first.Index)
	}
	refused[*driverlog.CheckpointError](s, s.checkpointed(app, 1, 2, "c"))
	refused[*driverlog.CheckpointError](s, s.checkpointed(app, 3, 1, "c"))
	s.ok(s.checkpointed(app, 2, 3, "c"))
}

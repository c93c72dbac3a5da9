package driverlog_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A model keeps the whole history and answers from it, slowly.
type model struct {
	epoch    uint64
	accepted []record
}

type record struct {
	index uint64
	cmd   driverlog.Command
}

// find returns the accepted command of a kind for one batch.
func (m *model) find(kind driverlog.Kind, app string, batch int64) *record {
	for i := range m.accepted {
		if c := m.accepted[i].cmd; c.Kind == kind && c.App == app && c.Batch == batch {
			return &m.accepted[i]
		}
	}
	return nil
}

// last returns the newest accepted command of a kind for one application.
func (m *model) last(kind driverlog.Kind, app string) *record {
	for i := len(m.accepted) - 1; i >= 0; i-- {
		if c := m.accepted[i].cmd; c.Kind == kind && c.App == app {
			return &m.accepted[i]
		}
	}
	return nil
}

// kept returns the ids of the batches committed since the first Application, from the newest Keep on.
func (m *model) kept(app string) (ids []int64) {
	keep := int64(0)
	if c := m.last(driverlog.Checkpointed, app); c != nil {
		keep = c.cmd.Keep
	}
	registered := false
	for _, r := range m.accepted {
		if r.cmd.App != app {
			continue
		}
		registered = registered || r.cmd.Kind == driverlog.Application
		if registered && r.cmd.Kind == driverlog.Committed && r.cmd.Batch >= keep {
			ids = append(ids, r.cmd.Batch)
		}
	}
	return ids
}

func (m *model) count(kind driverlog.Kind, app string) int64 {
	n := int64(0)
	for _, r := range m.accepted {
		if r.cmd.Kind == kind && r.cmd.App == app {
			n++
		}
	}
	return n
}

// step returns the verdict on a well-formed command: "" for taking effect, "again" for a duplicate,
// else the name of the refusal; and the index the answer names.
func (m *model) step(index uint64, c driverlog.Command) (verdict string, at uint64) {
	if c.Request != (driverlog.RequestID{}) {
		for _, r := range m.accepted {
			if r.cmd.Request == c.Request {
				if r.cmd.Kind != c.Kind || r.cmd.App != c.App || r.cmd.Batch != c.Batch {
					return "request", 0
				}
				return "again", r.index
			}
		}
	}
	if c.Kind != driverlog.LeaderStart && c.Epoch != m.epoch {
		return "fenced", 0
	}
	begun, prep, done := m.count(driverlog.Begin, c.App), m.count(driverlog.Prepared, c.App), m.count(driverlog.Committed, c.App)
	switch c.Kind {
	case driverlog.LeaderStart:
		m.epoch = index
	case driverlog.Begin:
		switch {
		case c.Batch != begun:
			return "dense", 0
		case begun > 0 && c.Time <= m.find(driverlog.Begin, c.App, begun-1).cmd.Time:
			return "time", 0
		case begun-done >= driverlog.Window:
			return "window", 0
		}
	case driverlog.Prepared:
		// Manifests of batches before the last committed one are forgotten.
		if old := m.find(driverlog.Prepared, c.App, c.Batch); old != nil && c.Batch >= done-1 {
			if !bytes.Equal(old.cmd.Manifest, c.Manifest) {
				return "conflict", 0
			}
			return "again", old.index
		}
		if c.Batch != prep || prep >= begun {
			return "order", 0
		}
	case driverlog.Committed:
		if c.Batch < done {
			if c.Batch < done-1 && !slices.Contains(m.kept(c.App), c.Batch) {
				return "again", 0
			}
			return "again", m.find(driverlog.Committed, c.App, c.Batch).index
		}
		if c.Batch != done || done >= prep {
			return "order", 0
		}
	case driverlog.Application:
		if old := m.last(driverlog.Application, c.App); old != nil {
			if old.cmd.Time != c.Time {
				return "zero time", 0
			}
			if bytes.Equal(old.cmd.Manifest, c.Manifest) {
				return "again", 0
			}
		}
	case driverlog.Checkpointed:
		if m.last(driverlog.Application, c.App) == nil || c.Batch >= done {
			return "checkpoint", 0
		}
		if old := m.last(driverlog.Checkpointed, c.App); old != nil {
			switch {
			case c.Batch < old.cmd.Batch || c.Keep < old.cmd.Keep:
				return "checkpoint", 0
			case c.Batch == old.cmd.Batch && c.Keep == old.cmd.Keep && bytes.Equal(c.Manifest, old.cmd.Manifest):
				return "again", old.index
			}
		}
	case driverlog.Control:
		if m.last(driverlog.Application, c.App) == nil {
			return "status", 0
		}
		was := driverlog.Running
		if old := m.last(driverlog.Control, c.App); old != nil {
			was = old.cmd.Status
		}
		if was == c.Status {
			return "again", 0
		}
	}
	m.accepted = append(m.accepted, record{index, c})
	return "", index
}

func verdict(res driverlog.Result, err error) string {
	for _, k := range []struct {
		name string
		is   func() bool
	}{
		{"request", is[*driverlog.RequestError](err)},
		{"fenced", is[*driverlog.FencedError](err)},
		{"dense", is[*driverlog.DenseError](err)},
		{"time", is[*driverlog.TimeError](err)},
		{"window", is[*driverlog.WindowError](err)},
		{"conflict", is[*driverlog.ConflictError](err)},
		{"order", is[*driverlog.OrderError](err)},
		{"zero time", is[*driverlog.ZeroTimeError](err)},
		{"checkpoint", is[*driverlog.CheckpointError](err)},
		{"status", is[*driverlog.StatusError](err)},
		{"again", func() bool { return err == nil && res.Duplicate }},
		{"", func() bool { return err == nil }},
	} {
		if k.is() {
			return k.name
		}
	}
	return err.Error()
}

func is[E error](err error) func() bool {
	return func() bool {
		var e E
		return errors.As(err, &e)
	}
}

// drawCommand makes commands that are mostly about the batches whose turn it is.
func drawCommand(t *rapid.T, s *driverlog.State) driverlog.Command {
	c := driverlog.Command{Kind: driverlog.Kind(rapid.SampledFrom([]int{1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7}).Draw(t, "kind"))}
	if rapid.IntRange(0, 3).Draw(t, "with id") == 0 {
		c.Request = driverlog.RequestID{Proposer: 1, Seq: rapid.Uint64Range(1, 40).Draw(t, "seq")}
	}
	if c.Kind == driverlog.LeaderStart {
		c.Node = rapid.SampledFrom([]string{"n1", "n2"}).Draw(t, "node")
		return c
	}
	c.App = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "app")
	c.Epoch = max(1, s.Epoch)
	if rapid.IntRange(0, 9).Draw(t, "old epoch") == 0 {
		c.Epoch = rapid.Uint64Range(1, c.Epoch+1).Draw(t, "epoch")
	}
	app := s.App(c.App)
	last, _ := app.LastTime()
	near := rapid.SampledFrom([]int64{0, 0, 0, 0, 0, -2, -1, 1}).Draw(t, "near")
	switch c.Kind {
	case driverlog.Begin:
		c.Batch = app.Next + near
		c.Time = last + rapid.SampledFrom([]int64{5, 1, 1, 0, -1}).Draw(t, "later")
		for i := range rapid.IntRange(0, 2).Draw(t, "inputs") {
			c.Inputs = append(c.Inputs, driverlog.Input{Stream: int32(i - 1), Data: []byte("range")})
		}
	case driverlog.Prepared:
		c.Batch = app.Oldest() + near + rapid.Int64Range(0, 1).Draw(t, "ahead")
		c.Manifest = rapid.SampledFrom([][]byte{nil, []byte("m"), []byte("m"), []byte("m")}).Draw(t, "manifest")
	case driverlog.Committed:
		c.Batch = app.Oldest() + near
	case driverlog.Application:
		c.Time = rapid.SampledFrom([]int64{0, 0, 0, 0, 7}).Draw(t, "zero")
		c.Manifest = rapid.SampledFrom([][]byte{nil, []byte("g1"), []byte("g2")}).Draw(t, "description")
		return c
	case driverlog.Control:
		c.Status = driverlog.Status(rapid.IntRange(0, 2).Draw(t, "status"))
		return c
	case driverlog.Checkpointed:
		c.Batch = max(0, app.Oldest()-1+near)
		c.Keep = max(0, c.Batch+1-rapid.Int64Range(0, 4).Draw(t, "back"))
		c.Manifest = rapid.SampledFrom([][]byte{nil, []byte("c")}).Draw(t, "files")
		return c
	}
	c.Batch = max(0, c.Batch)
	return c
}

func TestStepProperties(t *testing.T) {
	t.Run("agrees_with_a_model_that_keeps_everything", func(t *testing.T) {
		seen := map[string]int{}
		rapid.Check(t, func(t *rapid.T) {
			var m model
			s := &machine{}
			for range rapid.IntRange(1, 150).Draw(t, "commands") {
				cmd := drawCommand(t, &s.State)
				before := s.Append(nil)
				res, err := s.step(cmd)
				want, at := m.step(s.index, cmd)
				got := verdict(res, err)
				seen[got]++
				if got != want || res.Index != at {
					t.Fatalf("%+v: got %q at %d, want %q at %d", cmd, got, res.Index, want, at)
				}
				after := s.Append(nil)
				if want != "" && !bytes.Equal(before, after) {
					t.Fatalf("%+v answered %q and changed the state", cmd, want)
				}
			}
			for _, name := range []string{"a", "b"} {
				a := s.App(name)
				if got, want := a.Next, m.count(driverlog.Begin, name); got != want {
					t.Fatalf("next of %s is %d, want %d", name, got, want)
				}
				var kept []int64
				for _, b := range a.Kept {
					if b.Manifest != nil || b.Committed != m.find(driverlog.Committed, name, b.ID).index {
						t.Fatalf("%s keeps %+v", name, b)
					}
					kept = append(kept, b.ID)
				}
				if want := m.kept(name); !slices.Equal(kept, want) {
					t.Fatalf("%s keeps %v, want %v", name, kept, want)
				}
				if got, want := a.Oldest(), m.count(driverlog.Committed, name); got != want {
					t.Fatalf("oldest of %s is %d, want %d", name, got, want)
				}
			}
		})
		for _, v := range []string{"", "again", "request", "fenced", "dense", "time", "conflict", "order", "zero time", "checkpoint"} {
			if seen[v] == 0 {
				t.Errorf("no command was answered %q", v)
			}
		}
	})
	// A replica that starts from a snapshot, or from encoded commands, ends in the same bytes.
	t.Run("any_prefix_restored_and_replayed_is_the_same_state", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			straight, replica := &machine{}, &machine{}
			for range rapid.IntRange(1, 60).Draw(t, "commands") {
				cmd := drawCommand(t, &straight.State)
				res, err := straight.step(cmd)
				decoded, derr := driverlog.DecodeCommand(cmd.Append(nil))
				if derr != nil {
					t.Fatalf("decode %+v: %v", cmd, derr)
				}
				res2, err2 := replica.step(decoded)
				if res != res2 || (err == nil) != (err2 == nil) {
					t.Fatalf("%+v: %+v, %v against %+v, %v", cmd, res, err, res2, err2)
				}
				restored, rerr := driverlog.DecodeState(replica.Append(nil))
				if rerr != nil {
					t.Fatalf("restore after %+v: %v", cmd, rerr)
				}
				replica.State = restored
				if straight.Digest() != replica.Digest() {
					t.Fatalf("digests differ after %+v", cmd)
				}
			}
		})
	})
}

package driverlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// history is an application after so many commands, and the input of each of its batches.
type history struct {
	state  driverlog.State
	inputs map[int64][]byte
}

func (h *history) step(cmd driverlog.Command) error {
	if cmd.Kind != driverlog.LeaderStart {
		cmd.Epoch, cmd.App = h.state.Epoch, "app"
	}
	_, err := driverlog.Step(&h.state, h.state.Index+1, cmd)
	return err
}

// drawHistory returns an application of up to 30 batches, some of them open, with checkpoints here and there.
func drawHistory(t *rapid.T) *history {
	h := &history{inputs: map[int64][]byte{}}
	must := func(cmd driverlog.Command) {
		if err := h.step(cmd); err != nil {
			t.Fatal(err)
		}
	}
	must(driverlog.Command{Kind: driverlog.LeaderStart, Node: "n"})
	must(driverlog.Command{Kind: driverlog.Application, Time: 0, Manifest: []byte("what it is")})
	batches := rapid.Int64Range(0, 30).Draw(t, "batches")
	open := rapid.Int64Range(0, min(3, batches)).Draw(t, "open")
	keep := int64(0)
	for id := range batches {
		h.inputs[id] = fmt.Appendf(nil, "input %d", id)
		must(driverlog.Command{Kind: driverlog.Begin, Batch: id, Time: 1000 * (id + 1), Inputs: []driverlog.Input{{Stream: 1, Data: h.inputs[id]}}})
		if id >= batches-open && rapid.Bool().Draw(t, "only begun") {
			for rest := id + 1; rest < batches; rest++ {
				h.inputs[rest] = nil
				must(driverlog.Command{Kind: driverlog.Begin, Batch: rest, Time: 1000 * (rest + 1)})
			}
			return h
		}
		must(driverlog.Command{Kind: driverlog.Prepared, Batch: id, Manifest: fmt.Appendf(nil, "rows %d", id)})
		if id >= batches-open {
			continue
		}
		must(driverlog.Command{Kind: driverlog.Committed, Batch: id})
		if rapid.IntRange(0, 3).Draw(t, "checkpoint") == 0 {
			keep = rapid.Int64Range(keep, id+1).Draw(t, "keep")
			must(driverlog.Command{Kind: driverlog.Checkpointed, Batch: id, Keep: keep, Manifest: fmt.Appendf(nil, "state %d", id)})
		}
	}
	return h
}

// Whatever an application has done, what it is rewound to is a state that goes on: later batches are begun with the input that they
// had, and can be prepared with other rows, by a driver of a higher epoch.
func TestRewoundStatesGoOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		before := h.state.Append(nil)
		was := h.state.App("app")
		to := rapid.Int64Range(-1, was.Next).Draw(t, "to")
		c := was.Checkpoint
		if c.Index > 0 && rapid.Bool().Draw(t, "older") {
			c.Batch, c.Manifest = rapid.Int64Range(max(0, c.Keep-1), c.Batch).Draw(t, "of batch"), []byte("older state")
		}
		now, err := driverlog.Rewind(h.state, "app", to, c, []byte("left"))
		if !bytes.Equal(h.state.Append(nil), before) {
			t.Fatal("the state was changed")
		}
		var refused *driverlog.RewindError
		known := to == was.Oldest()-1 || len(was.Kept) > 0 && was.Kept[0].ID <= to || to == -1 && (len(was.Kept) > 0 && was.Kept[0].ID == 0)
		allowed := to < was.Oldest() && known && (c.Index == 0 || c.Batch <= to)
		if to < 0 && c.Index > 0 {
			allowed = false
		}
		if !allowed {
			if !errors.As(err, &refused) {
				t.Fatalf("to %d of %+v: %v", to, was, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("to %d of %+v: %v", to, was, err)
		}
		app := now.App("app")
		if app.Oldest() != to+1 || app.Next != was.Next || now.Epoch != h.state.Epoch || app.Checkpoint.Batch != c.Batch || app.Zero != was.Zero {
			t.Fatalf("rewound to %d: %+v", to, app)
		}
		for _, b := range app.Kept {
			if !bytes.Equal(b.Inputs[0].Data, h.inputs[b.ID]) || b.Manifest != nil {
				t.Fatalf("kept %+v", b)
			}
		}
		h.state = now.Clone() // its steps move what app shows
		if err := h.step(driverlog.Command{Kind: driverlog.LeaderStart, Node: "next"}); err != nil {
			t.Fatal(err)
		}
		for _, b := range app.Open {
			if b.Prepared != 0 || h.inputs[b.ID] != nil && !bytes.Equal(b.Inputs[0].Data, h.inputs[b.ID]) || b.Time != 1000*(b.ID+1) {
				t.Fatalf("open %+v", b)
			}
			for _, cmd := range []driverlog.Command{{Kind: driverlog.Prepared, Batch: b.ID, Manifest: []byte("other rows")}, {Kind: driverlog.Committed, Batch: b.ID}} {
				if err := h.step(cmd); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := h.step(driverlog.Command{Kind: driverlog.Begin, Batch: was.Next, Time: 1_000_000}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRewindRefusesMoreThanAWindow(t *testing.T) {
	h := &history{}
	for _, cmd := range []driverlog.Command{{Kind: driverlog.LeaderStart, Node: "n"}, {Kind: driverlog.Application}} {
		if err := h.step(cmd); err != nil {
			t.Fatal(err)
		}
	}
	for id := range int64(driverlog.Window + 5) {
		for _, cmd := range []driverlog.Command{{Kind: driverlog.Begin, Batch: id, Time: id}, {Kind: driverlog.Prepared, Batch: id}, {Kind: driverlog.Committed, Batch: id}} {
			if err := h.step(cmd); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := driverlog.Rewind(h.state, "app", 4, driverlog.Checkpoint{}, nil); err != nil {
		t.Errorf("by a window: %v", err)
	}
	_, err := driverlog.Rewind(h.state, "app", 3, driverlog.Checkpoint{}, nil)
	want := &driverlog.RewindError{App: "app", Batch: 3, Reason: "65 batches follow it, at most 64 can be begun at once"}
	var got *driverlog.RewindError
	if !errors.As(err, &got) || !cmp.Equal(got, want) {
		t.Errorf("by more: %v, want %v", err, want)
	}
	if _, err := driverlog.Rewind(h.state, "other", 3, driverlog.Checkpoint{}, nil); !errors.As(err, &got) {
		t.Errorf("an application that is not known: %v", err)
	}
}

func ExampleRewind() {
	var s driverlog.State
	for i, cmd := range []driverlog.Command{
		{Kind: driverlog.LeaderStart, Node: "driver-1"},
		{Kind: driverlog.Application, Epoch: 1, App: "counts"},
		{Kind: driverlog.Begin, Epoch: 1, App: "counts", Batch: 0, Time: 1000, Inputs: []driverlog.Input{{Stream: 1, Data: []byte("a-b")}}},
		{Kind: driverlog.Prepared, Epoch: 1, App: "counts", Batch: 0},
		{Kind: driverlog.Committed, Epoch: 1, App: "counts", Batch: 0},
	} {
		if _, err := driverlog.Step(&s, uint64(i+1), cmd); err != nil {
			fmt.Println(err)
		}
	}
	s, err := driverlog.Rewind(s, "counts", -1, driverlog.Checkpoint{}, nil)
	app := s.App("counts")
	fmt.Printf("%d open, with input %s; %v\n", len(app.Open), app.Open[0].Inputs[0].Data, err)
	// Output: 1 open, with input a-b; <nil>
}

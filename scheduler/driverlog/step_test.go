package driverlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A machine is a state and the index that its next command gets.
type machine struct {
	driverlog.State
	index uint64
}

func (m *machine) step(cmd driverlog.Command) (driverlog.Result, error) {
	m.index++
	return driverlog.Step(&m.State, m.index, cmd)
}

func (m *machine) must(t testing.TB, cmds ...driverlog.Command) {
	t.Helper()
	for _, cmd := range cmds {
		if _, err := m.step(cmd); err != nil {
			t.Fatalf("%+v: %v", cmd, err)
		}
	}
}

func begin(epoch uint64, app string, batch, time int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Begin, Epoch: epoch, App: app, Batch: batch, Time: time}
}

func prepared(epoch uint64, app string, batch int64, manifest string) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Prepared, Epoch: epoch, App: app, Batch: batch, Manifest: []byte(manifest)}
}

func committed(epoch uint64, app string, batch int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Committed, Epoch: epoch, App: app, Batch: batch}
}

func application(epoch uint64, app string, zero int64, description string) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Application, Epoch: epoch, App: app, Time: zero, Manifest: []byte(description)}
}

func checkpointed(epoch uint64, app string, batch, keep int64, manifest string) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Checkpointed, Epoch: epoch, App: app, Batch: batch, Keep: keep, Manifest: []byte(manifest)}
}

func controlled(epoch uint64, app string, status driverlog.Status) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Control, Epoch: epoch, App: app, Status: status}
}

func lead(node string) driverlog.Command {
	return driverlog.Command{Kind: driverlog.LeaderStart, Node: node}
}

// busy is a machine in epoch 1 whose application a has committed batch 0, prepared 1 and begun 2. Its application r is
// registered, has committed 0 to 2 and begun 3; its checkpoint is of batch 1 and keeps from 1 on.
func busy(t testing.TB) *machine {
	t.Helper()
	m := &machine{}
	m.must(t, lead("n1"), begin(1, "a", 0, 100), prepared(1, "a", 0, "m0"), begin(1, "a", 1, 200),
		committed(1, "a", 0), prepared(1, "a", 1, "m1"), begin(1, "a", 2, 300), application(1, "r", 50, "graph"))
	for id := range int64(3) {
		m.must(t, begin(1, "r", id, 100*id), prepared(1, "r", id, "m"), committed(1, "r", id))
	}
	m.must(t, begin(1, "r", 3, 300), checkpointed(1, "r", 1, 1, "c1"))
	return m
}

func TestStep(t *testing.T) {
	inputs := func(n, size int) driverlog.Command {
		c := begin(1, "a", 3, 400)
		for range n {
			c.Inputs = append(c.Inputs, driverlog.Input{Data: make([]byte, size)})
		}
		return c
	}
	with := func(c driverlog.Command, change func(*driverlog.Command)) driverlog.Command {
		change(&c)
		return c
	}
	tests := []struct {
		name string
		cmd  driverlog.Command
		want error // its type must match; nil is acceptance
	}{
		{"next_batch_begins", begin(1, "a", 3, 301), nil},
		{"new_application_begins_at_zero", begin(1, "b", 0, -1), nil},
		{"largest_inputs_fit", inputs(1, driverlog.MaxPayload), nil},
		{"most_inputs_fit", inputs(driverlog.MaxInputs, 1), nil},
		{"due_batch_is_prepared", prepared(1, "a", 2, "m2"), nil},
		{"empty_manifest_is_a_manifest", prepared(1, "a", 2, ""), nil},
		{"prepared_again_with_the_same_manifest", prepared(1, "a", 1, "m1"), nil},
		{"last_committed_batch_prepared_again", prepared(1, "a", 0, "m0"), nil},
		{"oldest_batch_is_committed", committed(1, "a", 1), nil},
		{"committed_again", committed(1, "a", 0), nil},
		{"another_leader_starts", lead("n2"), nil},
		{"known_application_is_registered", application(1, "a", 0, "graph"), nil},
		{"new_application_is_registered", application(1, "b", -5, ""), nil},
		{"registered_again_with_another_description", application(1, "r", 50, "graph 2"), nil},
		{"registered_again_as_it_was", application(1, "r", 50, "graph"), nil},
		{"last_committed_batch_is_checkpointed", checkpointed(1, "r", 2, 3, "c"), nil},
		{"checkpoint_keeps_everything_that_is_kept", checkpointed(1, "r", 1, 1, "c"), nil},
		{"checkpoint_again_as_it_was", checkpointed(1, "r", 1, 1, "c1"), nil},
		{"checkpoint_of_the_same_batch_with_other_files", checkpointed(1, "r", 1, 2, "c2"), nil},
		{"kept_batch_is_committed_again", committed(1, "r", 1), nil},

		{"no_kind", driverlog.Command{}, &driverlog.CommandError{}},
		{"application_with_batch", with(application(1, "r", 50, ""), func(c *driverlog.Command) { c.Batch = 1 }), &driverlog.CommandError{}},
		{"application_with_keep", with(application(1, "r", 50, ""), func(c *driverlog.Command) { c.Keep = 1 }), &driverlog.CommandError{}},
		{"application_with_inputs", with(inputs(1, 1), func(c *driverlog.Command) { c.Kind, c.Batch = driverlog.Application, 0 }), &driverlog.CommandError{}},
		{"begin_with_keep", with(begin(1, "a", 3, 400), func(c *driverlog.Command) { c.Keep = 1 }), &driverlog.CommandError{}},
		{"leader_with_keep", with(lead("n"), func(c *driverlog.Command) { c.Keep = 1 }), &driverlog.CommandError{}},
		{"checkpoint_with_time", with(checkpointed(1, "r", 2, 1, ""), func(c *driverlog.Command) { c.Time = 1 }), &driverlog.CommandError{}},
		{"checkpoint_that_keeps_past_its_batch", checkpointed(1, "r", 2, 4, ""), &driverlog.CommandError{}},
		{"checkpoint_that_keeps_from_before_zero", checkpointed(1, "r", 2, -1, ""), &driverlog.CommandError{}},
		{"description_too_large", application(1, "r", 50, strings.Repeat("m", driverlog.MaxPayload+1)), &driverlog.CommandError{}},
		{"another_zero_time", application(1, "r", 51, "graph"), &driverlog.ZeroTimeError{App: "r", Have: 50, Got: 51}},
		{"checkpoint_of_an_unknown_application", checkpointed(1, "b", 0, 0, ""), &driverlog.CheckpointError{App: "b", Reason: "the application is not registered"}},
		{"checkpoint_of_an_unregistered_application", checkpointed(1, "a", 0, 0, ""), &driverlog.CheckpointError{App: "a", Reason: "the application is not registered"}},
		{"checkpoint_of_an_open_batch", checkpointed(1, "r", 3, 2, ""), &driverlog.CheckpointError{App: "r", Batch: 3, Keep: 2, Reason: "the batch is not committed"}},
		{"checkpoint_before_the_last", checkpointed(1, "r", 0, 1, ""), &driverlog.CheckpointError{App: "r", Batch: 0, Keep: 1, Reason: "a later checkpoint stands"}},
		{"keep_before_that_of_the_last", checkpointed(1, "r", 2, 0, ""), &driverlog.CheckpointError{App: "r", Batch: 2, Keep: 0, Reason: "the batches before that one of the last checkpoint are forgotten"}},
		{"kept_batch_is_prepared_again", prepared(1, "r", 1, "m"), &driverlog.OrderError{Kind: driverlog.Prepared, App: "r", Batch: 1, Want: 3}},
		{"unknown_kind", driverlog.Command{Kind: 9, Epoch: 1, App: "a"}, &driverlog.CommandError{}},
		{"leader_without_node", lead(""), &driverlog.CommandError{}},
		{"leader_with_long_node", lead(strings.Repeat("n", 256)), &driverlog.CommandError{}},
		{"leader_with_epoch", with(lead("n"), func(c *driverlog.Command) { c.Epoch = 1 }), &driverlog.CommandError{}},
		{"leader_with_manifest", with(lead("n"), func(c *driverlog.Command) { c.Manifest = []byte("m") }), &driverlog.CommandError{}},
		{"no_epoch", begin(0, "a", 3, 400), &driverlog.CommandError{}},
		{"no_application", begin(1, "", 3, 400), &driverlog.CommandError{}},
		{"long_application", begin(1, strings.Repeat("a", 256), 0, 400), &driverlog.CommandError{}},
		{"negative_batch", begin(1, "a", -1, 400), &driverlog.CommandError{}},
		{"begin_with_node", with(begin(1, "a", 3, 400), func(c *driverlog.Command) { c.Node = "n" }), &driverlog.CommandError{}},
		{"prepared_with_time", with(prepared(1, "a", 2, "m"), func(c *driverlog.Command) { c.Time = 1 }), &driverlog.CommandError{}},
		{"committed_with_manifest", with(committed(1, "a", 1), func(c *driverlog.Command) { c.Manifest = []byte("m") }), &driverlog.CommandError{}},
		{"inputs_too_large", inputs(2, driverlog.MaxPayload/2+1), &driverlog.CommandError{}},
		{"too_many_inputs", inputs(driverlog.MaxInputs+1, 0), &driverlog.CommandError{}},
		{"manifest_too_large", prepared(1, "a", 2, strings.Repeat("m", driverlog.MaxPayload+1)), &driverlog.CommandError{}},
		{"epoch_not_the_latest", begin(2, "a", 3, 400), &driverlog.FencedError{Have: 1, Got: 2}},
		{"batch_id_skipped", begin(1, "a", 4, 400), &driverlog.DenseError{App: "a", Want: 3, Got: 4}},
		{"batch_id_used", begin(1, "a", 2, 400), &driverlog.DenseError{App: "a", Want: 3, Got: 2}},
		{"new_application_not_at_zero", begin(1, "b", 1, 1), &driverlog.DenseError{App: "b", Want: 0, Got: 1}},
		{"time_stands_still", begin(1, "a", 3, 300), &driverlog.TimeError{App: "a", Last: 300, Got: 300}},
		{"time_goes_back", begin(1, "a", 3, 250), &driverlog.TimeError{App: "a", Last: 300, Got: 250}},
		{"prepared_with_another_manifest", prepared(1, "a", 1, "m2"), &driverlog.ConflictError{App: "a", Batch: 1}},
		{"last_committed_batch_with_another_manifest", prepared(1, "a", 0, "m1"), &driverlog.ConflictError{App: "a", Batch: 0}},
		{"prepared_before_begin", prepared(1, "a", 3, "m3"), &driverlog.OrderError{Kind: driverlog.Prepared, App: "a", Batch: 3, Want: 2}},
		{"committed_before_prepared", committed(1, "a", 2), &driverlog.OrderError{Kind: driverlog.Committed, App: "a", Batch: 2, Want: 1}},
		{"unknown_application_prepared", prepared(1, "b", 0, "m"), &driverlog.OrderError{Kind: driverlog.Prepared, App: "b", Want: -1}},
		{"unknown_application_committed", committed(1, "b", 0), &driverlog.OrderError{Kind: driverlog.Committed, App: "b", Want: -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := busy(t)
			before := m.Append(nil)
			res, err := m.step(tt.cmd)
			if tt.want == nil {
				if err != nil {
					t.Fatalf("Step: %v", err)
				}
				if changed := !bytes.Equal(before, m.Append(nil)); changed == res.Duplicate {
					t.Errorf("state changed: %t, duplicate: %t", changed, res.Duplicate)
				}
				return
			}
			if reflect.TypeOf(err) != reflect.TypeOf(tt.want) {
				t.Fatalf("Step = %v, want %T", err, tt.want)
			}
			if _, malformed := err.(*driverlog.CommandError); !malformed && !reflect.DeepEqual(err, tt.want) {
				t.Errorf("Step = %#v, want %#v", err, tt.want)
			}
			if !driverlog.Refused(fmt.Errorf("propose: %w", err)) || res != (driverlog.Result{}) {
				t.Errorf("Refused = false or a result %+v beside an error", res)
			}
			if !bytes.Equal(before, m.Append(nil)) {
				t.Error("a refused command changed the state")
			}
		})
	}

	t.Run("no_epoch_is_accepted_before_a_leader", func(t *testing.T) {
		_, err := (&machine{}).step(begin(1, "a", 0, 1))
		var fenced *driverlog.FencedError
		if !errors.As(err, &fenced) || fenced.Have != 0 {
			t.Errorf("Step = %v, want a FencedError with Have 0", err)
		}
	})
	t.Run("index_must_rise", func(t *testing.T) {
		m := busy(t)
		_, err := driverlog.Step(&m.State, m.Index, begin(1, "a", 3, 400))
		var index *driverlog.IndexError
		if !errors.As(err, &index) || driverlog.Refused(err) {
			t.Errorf("Step = %v, want an IndexError, which is no refusal", err)
		}
	})
	t.Run("applications_are_bounded", func(t *testing.T) {
		m := &machine{}
		m.must(t, lead("n"))
		for i := range driverlog.MaxApps {
			m.must(t, begin(1, fmt.Sprint(i), 0, 1))
		}
		_, err := m.step(begin(1, "one more", 0, 1))
		var limit *driverlog.LimitError
		if !errors.As(err, &limit) || limit.Limit != driverlog.MaxApps {
			t.Errorf("Step = %v, want a LimitError", err)
		}
		m.must(t, begin(1, "0", 1, 2))
	})
}

func TestRequests(t *testing.T) {
	id := func(seq uint64) driverlog.RequestID { return driverlog.RequestID{Proposer: 1, Seq: seq} }
	t.Run("the_latest_256_are_remembered", func(t *testing.T) {
		m := &machine{}
		m.must(t, lead("n"))
		var cmds []driverlog.Command
		for i := range uint64(driverlog.Remembered + 10) {
			cmd := lead("n")
			cmd.Request = id(i + 1)
			m.must(t, cmd)
			cmds = append(cmds, cmd)
		}
		data := m.Append(nil)
		restored, err := driverlog.DecodeState(data)
		if err != nil {
			t.Fatal(err)
		}
		for i := 10; i < len(cmds); i++ {
			for _, s := range []*driverlog.State{&m.State, &restored} {
				if res, err := driverlog.Step(s, m.index+1, cmds[i]); err != nil || !res.Duplicate {
					t.Fatalf("request %d = %+v, %v; want a duplicate", i, res, err)
				}
			}
		}
		if res, err := m.step(cmds[9]); err != nil || res.Duplicate {
			t.Errorf("request 9 = %+v, %v; want it forgotten", res, err)
		}
	})
	t.Run("the_zero_id_is_not_remembered", func(t *testing.T) {
		m := &machine{}
		for range 2 {
			if res, err := m.step(lead("n")); err != nil || res.Duplicate {
				t.Errorf("leader start = %+v, %v; want it to take effect", res, err)
			}
		}
	})
}

func TestKept(t *testing.T) {
	ids := func(a driverlog.App) (out []int64) {
		for _, b := range a.Kept {
			if len(b.Manifest) != 0 || b.Committed == 0 || len(b.Inputs) != 1 || b.Inputs[0].Data[0] != byte(b.ID) {
				t.Errorf("kept batch %+v, want inputs and no manifest", b)
			}
			out = append(out, b.ID)
		}
		return out
	}
	run := func(m *machine, from, to int64) {
		for id := from; id < to; id++ {
			c := begin(1, "a", id, id)
			c.Inputs = []driverlog.Input{{Stream: 1, Data: []byte{byte(id)}}}
			m.must(t, c, prepared(1, "a", id, "m"), committed(1, "a", id))
		}
	}
	t.Run("from_registration_on_up_to_the_checkpoint", func(t *testing.T) {
		m := &machine{}
		m.must(t, lead("n"))
		run(m, 0, 2)
		if got := ids(m.App("a")); len(got) != 0 {
			t.Errorf("an application that is not registered keeps %v", got)
		}
		m.must(t, application(1, "a", 0, ""))
		run(m, 2, 7)
		if got := ids(m.App("a")); !slices.Equal(got, []int64{2, 3, 4, 5, 6}) {
			t.Errorf("keeps %v, want 2 to 6", got)
		}
		m.must(t, checkpointed(1, "a", 6, 5, ""))
		if got := ids(m.App("a")); !slices.Equal(got, []int64{5, 6}) {
			t.Errorf("after a checkpoint keeps %v, want 5 and 6", got)
		}
		m.must(t, checkpointed(1, "a", 6, 7, ""))
		if got := ids(m.App("a")); len(got) != 0 {
			t.Errorf("after another checkpoint keeps %v, want none", got)
		}
		run(m, 7, 9)
		a := m.App("a")
		if got := ids(a); !slices.Equal(got, []int64{7, 8}) {
			t.Errorf("keeps %v, want 7 and 8", got)
		}
		if b, ok := a.Batch(7); !ok || b.ID != 7 || b.Manifest != nil {
			t.Errorf("Batch(7) = %+v, %t; want it without its manifest", b, ok)
		}
		if b, ok := a.Batch(8); !ok || string(b.Manifest) != "m" {
			t.Errorf("Batch(8) = %+v, %t; want the last committed one with its manifest", b, ok)
		}
		if b, ok := a.Batch(6); ok {
			t.Errorf("Batch(6) = %+v, want none", b)
		}
	})
	t.Run("no_more_than_65536_without_a_checkpoint", func(t *testing.T) {
		m := &machine{}
		m.must(t, lead("n"), application(1, "a", 0, ""))
		run(m, 0, driverlog.MaxKept-1)
		last := begin(1, "a", driverlog.MaxKept-1, driverlog.MaxKept)
		last.Inputs = []driverlog.Input{{Data: []byte{0xff}}}
		m.must(t, last)
		_, err := m.step(begin(1, "a", driverlog.MaxKept, driverlog.MaxKept+1))
		var limit *driverlog.LimitError
		if !errors.As(err, &limit) || limit.Limit != driverlog.MaxKept {
			t.Fatalf("Step = %v, want a LimitError", err)
		}
		m.must(t, prepared(1, "a", driverlog.MaxKept-1, ""), committed(1, "a", driverlog.MaxKept-1))
		if _, err := m.step(begin(1, "a", driverlog.MaxKept, driverlog.MaxKept+1)); !errors.As(err, &limit) {
			t.Fatalf("Step = %v, want a LimitError", err)
		}
		if restored, err := driverlog.DecodeState(m.Append(nil)); err != nil || restored.Digest() != m.Digest() {
			t.Fatalf("the full state does not restore: %v", err)
		}
		m.must(t, checkpointed(1, "a", driverlog.MaxKept-1, 1, ""), begin(1, "a", driverlog.MaxKept, driverlog.MaxKept+1))
	})
}

func TestClone(t *testing.T) {
	t.Run("shares_nothing", func(t *testing.T) {
		m := busy(t)
		c := begin(1, "a", 3, 400)
		c.Request = driverlog.RequestID{Proposer: 1, Seq: 1}
		c.Inputs = []driverlog.Input{{Stream: 1, Data: []byte("abc")}}
		m.must(t, c)
		before := m.Append(nil)
		clone := machine{State: m.Clone(), index: m.index}
		if !bytes.Equal(before, clone.Append(nil)) {
			t.Fatal("the clone encodes differently")
		}
		clone.must(t, committed(1, "a", 1), prepared(1, "a", 2, "m2"), lead("n2"), begin(clone.index+3, "A", 0, 1))
		clone.Apps[1].Open[1].Inputs[0].Data[0] = '!'
		clone.Apps[1].Last.Manifest[0] = '!'
		clone.Apps[2].Description[0], clone.Apps[2].Checkpoint.Manifest[0] = '!', '!'
		clone.Apps[2].Kept[0].Time = -1
		if !bytes.Equal(before, m.Append(nil)) {
			t.Error("writing to the clone changed the original")
		}
	})
}

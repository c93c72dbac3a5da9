package driverlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
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

func lead(node string) driverlog.Command {
	return driverlog.Command{Kind: driverlog.LeaderStart, Node: node}
}

// busy is a machine in epoch 1 whose application a has committed batch 0, prepared 1 and begun 2.
func busy(t testing.TB) *machine {
	t.Helper()
	m := &machine{}
	m.must(t, lead("n1"), begin(1, "a", 0, 100), prepared(1, "a", 0, "m0"), begin(1, "a", 1, 200),
		committed(1, "a", 0), prepared(1, "a", 1, "m1"), begin(1, "a", 2, 300))
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

		{"no_kind", driverlog.Command{}, &driverlog.CommandError{}},
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
		if !bytes.Equal(before, m.Append(nil)) {
			t.Error("writing to the clone changed the original")
		}
	})
}

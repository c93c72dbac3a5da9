package driverlog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
)

func TestControl(t *testing.T) {
	t.Run("only_what_is_registered_has_a_status", func(t *testing.T) {
		m := &machine{}
		m.must(t, lead("n"))
		m.must(t, begin(1, "a", 0, 0))
		for _, app := range []string{"a", "b"} {
			var bad *driverlog.StatusError
			if _, err := m.step(controlled(1, app, driverlog.Paused)); !errors.As(err, &bad) || !driverlog.Refused(err) {
				t.Errorf("control of %s = %v, want a StatusError", app, err)
			}
		}
	})
	t.Run("malformed", func(t *testing.T) {
		with := func(change func(c *driverlog.Command)) driverlog.Command {
			c := controlled(1, "a", driverlog.Paused)
			change(&c)
			return c
		}
		for name, c := range map[string]driverlog.Command{
			"status": with(func(c *driverlog.Command) { c.Status = 3 }), "batch": with(func(c *driverlog.Command) { c.Batch = 1 }),
			"time": with(func(c *driverlog.Command) { c.Time = 1 }), "manifest": with(func(c *driverlog.Command) { c.Manifest = []byte("m") }),
			"keep": with(func(c *driverlog.Command) { c.Keep = 1 }), "kind": with(func(c *driverlog.Command) { c.Kind = driverlog.Committed }),
			"leader": {Kind: driverlog.LeaderStart, Node: "n", Status: 1},
		} {
			var bad *driverlog.CommandError
			if err := c.Validate(); !errors.As(err, &bad) {
				t.Errorf("%s: %v, want a CommandError", name, err)
			}
		}
	})
	t.Run("survives_rewinding", func(t *testing.T) {
		m := &machine{}
		m.must(t, lead("n"))
		m.must(t, application(1, "a", 0, "graph"))
		m.must(t, controlled(1, "a", driverlog.Paused))
		s, err := driverlog.Rewind(m.State, "a", -1, driverlog.Checkpoint{}, nil)
		if err != nil || s.App("a").Status != driverlog.Paused {
			t.Errorf("Rewind gives status %s, %v", s.App("a").Status, err)
		}
	})
}

func TestSetStatus(t *testing.T) {
	g, err := memlog.NewGroup(memlog.GroupOptions{Nodes: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := driverlog.SetStatus(ctx, g.Node("a"), "app", driverlog.Paused); !errors.Is(err, driverlog.ErrNotLeader) {
		t.Errorf("before the first term: %v, want ErrNotLeader", err)
	}
	term, err := g.Node("a").Lead(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var bad *driverlog.StatusError
	if err := driverlog.SetStatus(ctx, g.Node("a"), "app", driverlog.Paused); !errors.As(err, &bad) {
		t.Errorf("an application that nobody knows: %v, want a StatusError", err)
	}
	if _, err := g.Node("a").Propose(ctx, application(term.Epoch, "app", 0, "graph")); err != nil {
		t.Fatal(err)
	}
	for _, status := range []driverlog.Status{driverlog.Paused, driverlog.Paused, driverlog.Stopped, driverlog.Running} {
		if err := driverlog.SetStatus(ctx, g.Node("a"), "app", status); err != nil {
			t.Error(err)
		}
		state := g.State()
		if got := state.App("app").Status; got != status {
			t.Errorf("status %s, want %s", got, status)
		}
	}
	if err := driverlog.SetStatus(ctx, g.Node("b"), "app", driverlog.Paused); !errors.Is(err, driverlog.ErrNotLeader) {
		t.Errorf("on another node: %v, want ErrNotLeader", err)
	}
}

func ExampleSetStatus() {
	log, err := memlog.New(memlog.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	ctx := context.Background()
	term, _ := log.Lead(ctx)
	_, _ = log.Propose(ctx, driverlog.Command{Kind: driverlog.Application, Epoch: term.Epoch, App: "counts", Manifest: []byte("graph")})
	fmt.Println(driverlog.SetStatus(ctx, log, "counts", driverlog.Paused))
	state, _ := log.State(ctx)
	fmt.Println(state.App("counts").Status)
	// Output:
	// <nil>
	// paused
}

package memlog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/logtest"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
)

// groups opens the leader of a group of three.
type groups struct {
	of map[driverlog.Log]*memlog.Group
}

func (f groups) Open(t *testing.T) driverlog.Log {
	g := group(t, memlog.GroupOptions{})
	f.of[g.Node("a")] = g
	return g.Node("a")
}

// Depose lets another node lead in between.
func (f groups) Depose(t *testing.T, log driverlog.Log) {
	g := f.of[log]
	g.Elect("b")
	if _, err := g.Node("b").Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.Elect("a")
}

func group(t testing.TB, opts memlog.GroupOptions) *memlog.Group {
	t.Helper()
	opts.Nodes = []string{"a", "b", "c"}
	g, err := memlog.NewGroup(opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func lead(t *testing.T, g *memlog.Group, name string) driverlog.Term {
	t.Helper()
	g.Elect(name)
	term, err := g.Node(name).Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func begin(term driverlog.Term, id int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Begin, Epoch: term.Epoch, App: "app", Batch: id, Time: id}
}

func TestGroupConformance(t *testing.T) { logtest.Run(t, groups{map[driverlog.Log]*memlog.Group{}}) }

func TestNewGroup(t *testing.T) {
	for name, opts := range map[string]memlog.GroupOptions{
		"two_of_a_name": {Nodes: []string{"a", "a"}}, "no_name": {Nodes: []string{""}}, "damaged_snapshot": {Snapshot: []byte("LDL")},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := memlog.NewGroup(opts); err == nil {
				t.Error("NewGroup accepted it")
			}
		})
	}
	g, err := memlog.NewGroup(memlog.GroupOptions{})
	if err != nil || g.Leader() != "local" {
		t.Errorf("the group of zero options is led by %q, %v; want local", g.Leader(), err)
	}
}

// Who does not lead is told so, and nothing that it proposes takes effect.
func TestOneNodeLeads(t *testing.T) {
	g := group(t, memlog.GroupOptions{})
	a := lead(t, g, "a")
	b := lead(t, g, "b")
	<-a.Lost
	if _, err := g.Node("a").Propose(t.Context(), begin(a, 0)); !errors.Is(err, driverlog.ErrNotLeader) {
		t.Errorf("Propose on a = %v, want ErrNotLeader", err)
	}
	if _, err := g.Node("b").Propose(t.Context(), begin(b, 0)); err != nil {
		t.Error(err)
	}
	g.Elect("a")
	if _, err := g.Node("a").Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	var fenced *driverlog.FencedError
	if _, err := g.Node("a").Propose(t.Context(), begin(a, 1)); !errors.As(err, &fenced) {
		t.Errorf("Propose in the term before = %v, want a FencedError", err)
	}
	g.Depose("a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Node("a").Lead(ctx); !errors.Is(err, context.Canceled) || g.Leader() != "" {
		t.Errorf("Lead = %v, and %q leads", err, g.Leader())
	}
}

func TestResigning(t *testing.T) {
	g := group(t, memlog.GroupOptions{})
	term := lead(t, g, "a")
	g.Pause("b")
	if err := errors.Join(g.Node("c").Resign(t.Context()), g.Node("a").Resign(t.Context())); err != nil || g.Leader() != "c" {
		t.Errorf("Resign = %v, and %q leads, want c: b is paused", err, g.Leader())
	}
	<-term.Lost
	if err := errors.Join(g.Node("a").Close(), g.Node("b").Close(), g.Node("c").Resign(t.Context())); err != nil || g.Leader() != "c" {
		t.Errorf("Resign = %v, and %q leads, want c: there is no other", err, g.Leader())
	}
}

// A paused node does not answer and is not told; what it was about to propose has no effect once another leads.
func TestAPausedNode(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		t.Run(when+"_the_effect", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g *memlog.Group
				g = group(t, memlog.GroupOptions{Plan: func(c memlog.GroupCall) (f memlog.GroupFault) {
					if c.Commands[0].Kind == driverlog.Begin && when == "before" {
						g.Pause(c.Node)
					} else if c.Commands[0].Kind == driverlog.Begin {
						f.After = func() { g.Pause(c.Node) }
					}
					return f
				}})
				a := lead(t, g, "a")
				answer := make(chan error, 1)
				go func() {
					_, err := g.Node("a").Propose(t.Context(), begin(a, 0))
					answer <- err
				}()
				synctest.Wait()
				lead(t, g, "b")
				synctest.Wait()
				select {
				case <-a.Lost:
					t.Error("a paused node is told that its term is over")
				case err := <-answer:
					t.Errorf("a paused node answers %v", err)
				default:
				}
				g.Resume("a")
				<-a.Lost
				err, next := <-answer, g.State().Apps
				if when == "before" && (!errors.Is(err, driverlog.ErrNotLeader) || len(next) != 0) {
					t.Errorf("it answers %v with state %+v, want ErrNotLeader and no application", err, next)
				} else if when == "after" && (err != nil || len(next) != 1) {
					t.Errorf("it answers %v with state %+v, want what had its effect", err, next)
				}
			})
		})
	}
	t.Run("obeys_its_callers", func(t *testing.T) {
		g := group(t, memlog.GroupOptions{})
		a := lead(t, g, "a")
		g.Pause("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := g.Node("a").Propose(ctx, begin(a, 0)); !errors.Is(err, driverlog.ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Propose = %v, want ErrUnknown for the context's end", err)
		}
		if _, err := g.Node("a").State(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("State = %v", err)
		}
	})
}

func TestALateNotice(t *testing.T) {
	g := group(t, memlog.GroupOptions{})
	g.Hush("a")
	a := lead(t, g, "a")
	lead(t, g, "b")
	select {
	case <-a.Lost:
		t.Error("it is told at once")
	default:
	}
	g.Tell("a")
	<-a.Lost
}

func TestALaggingNode(t *testing.T) {
	g := group(t, memlog.GroupOptions{})
	g.Lag("b")
	a := lead(t, g, "a")
	epoch := func() uint64 {
		state, err := g.Node("b").State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return state.Epoch
	}
	if got := epoch(); got != 0 {
		t.Errorf("it sees epoch %d, want none", got)
	}
	if lead(t, g, "b"); epoch() <= a.Epoch {
		t.Error("a leader does not see the latest state")
	}
	lead(t, g, "c")
	if got := epoch(); got != 0 {
		t.Errorf("it sees epoch %d again, want none", got)
	}
	if g.CatchUp("b"); epoch() != g.State().Epoch {
		t.Error("it has not caught up")
	}
}

// Whatever the proposer is told, what takes effect does so in its turn.
func TestGroupOutcomes(t *testing.T) {
	for outcome, want := range map[memlog.GroupOutcome]struct {
		err  bool
		next []int64 // batches begun right after, and after the next LeaderStart
	}{
		memlog.Answered: {false, []int64{1, 1}}, memlog.Lost: {true, []int64{1, 1}}, memlog.Dropped: {true, []int64{0, 0}}, memlog.Late: {true, []int64{0, 1}},
	} {
		t.Run(outcome.String(), func(t *testing.T) {
			g := group(t, memlog.GroupOptions{Plan: func(c memlog.GroupCall) (f memlog.GroupFault) {
				if c.N == 2 {
					f.Outcome = outcome
				}
				return f
			}})
			a := lead(t, g, "a")
			_, err := g.Node("a").Propose(t.Context(), begin(a, 0))
			if errors.Is(err, driverlog.ErrUnknown) != want.err || err != nil && !want.err {
				t.Errorf("Propose = %v", err)
			}
			for i, then := range want.next {
				state := g.State()
				if got := state.App("app").Next; got != then {
					t.Errorf("look %d: %d batches, want %d", i+1, got, then)
				}
				lead(t, g, "b")
			}
		})
	}
}

func TestADelayedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		g := group(t, memlog.GroupOptions{Plan: func(c memlog.GroupCall) memlog.GroupFault {
			return memlog.GroupFault{Delay: time.Second, Hold: hold}
		}})
		time.AfterFunc(3*time.Second, func() { close(hold) })
		start := time.Now()
		lead(t, g, "a")
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("Lead took %v, want 3s", took)
		}
		lead(t, g, "b")
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("the second Lead ended after %v, want 4s", took)
		}
	})
}

// With the same seed the same befalls a group, and whatever it is, the log stays one: what drivers see is dense.
func TestRandomPlan(t *testing.T) {
	run := func(t *testing.T, seed uint64) (log string) {
		r := rand.New(rand.NewPCG(seed, 1))
		var order strings.Builder
		g := group(t, memlog.GroupOptions{
			Plan:    memlog.RandomPlan(rand.New(rand.NewPCG(seed, 2)), 30, 0),
			Applied: func(index uint64, c driverlog.Command) { fmt.Fprintf(&order, "%d %s %d\n", index, c.Kind, c.Batch) },
		})
		for range 200 {
			name := []string{"a", "b", "c"}[r.IntN(3)]
			g.Elect(name)
			term, err := g.Node(name).Lead(t.Context())
			if err != nil {
				continue
			}
			state := g.State()
			_, _ = g.Node(name).Propose(t.Context(), begin(term, state.App("app").Next))
			_, _ = g.Node(name).Propose(t.Context(), driverlog.Command{Kind: driverlog.Prepared, Epoch: term.Epoch, App: "app", Batch: state.App("app").Next})
		}
		state := g.State()
		if _, err := driverlog.DecodeState(state.Append(nil)); err != nil {
			t.Errorf("seed %d: the state is none: %v", seed, err)
		}
		return order.String()
	}
	for seed := range uint64(20) {
		first, again := run(t, seed), run(t, seed)
		if first != again || !strings.Contains(first, "begin 3") {
			t.Errorf("seed %d: two runs differ or do nothing:\n%s\n%s", seed, first, again)
		}
	}
}

func ExampleGroup() {
	g, err := memlog.NewGroup(memlog.GroupOptions{Nodes: []string{"driver-1", "driver-2"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	first, second := g.Node("driver-1"), g.Node("driver-2")
	term, _ := first.Lead(ctx)
	g.Elect("driver-2")
	<-term.Lost
	_, err = first.Propose(ctx, driverlog.Command{Kind: driverlog.Begin, Epoch: term.Epoch, App: "counts"})
	fmt.Println(err)
	term, _ = second.Lead(ctx)
	fmt.Println(second.Propose(ctx, driverlog.Command{Kind: driverlog.Begin, Epoch: term.Epoch, App: "counts"}))
	// Output:
	// propose begin: not the leader
	// {3 2 false} <nil>
}

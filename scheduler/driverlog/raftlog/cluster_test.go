package raftlog_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/logtest"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// clusterFactory opens clusters of three and returns the leader.
type clusterFactory struct{}

func (clusterFactory) Open(t *testing.T) driverlog.Log {
	c := newCluster(t, 3, raftlog.Options{SnapshotEvery: 64, Trailing: 64})
	leader := c.leader()
	t.Cleanup(func() {
		for _, n := range c.others(leader) {
			if err := c.nodes[n].Close(); err != nil {
				t.Errorf("Close of %s: %v", n, err)
			}
		}
	})
	return leader
}

func (clusterFactory) Depose(t *testing.T, log driverlog.Log) { factory{}.Depose(t, log) }

func TestConformanceOfThree(t *testing.T) { logtest.Run(t, clusterFactory{}) }

// in runs a test in a bubble with a clock of its own, on a cluster that is closed at the end.
func in(t *testing.T, nodes int, run func(c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nodes, raftlog.Options{SnapshotEvery: 64, Trailing: 16})
		defer c.close()
		run(c)
	})
}

func TestCluster(t *testing.T) {
	t.Run("grows_from_1_to_3_to_5_and_back", func(t *testing.T) {
		in(t, 1, func(c *cluster) {
			next := int64(0)
			propose := func(n int) {
				log, term := c.lead(c.names...)
				for range n {
					if _, err := log.Propose(c.ctx(), begin(term.Epoch, next)); err != nil {
						c.Fatal(err)
					}
					next++
				}
			}
			for range 4 {
				propose(5)
				c.grow()
			}
			propose(5)
			c.settle()
			members := c.leader().Members()
			if len(members) != 5 {
				c.Fatalf("%d members, want 5", len(members))
			}
			for _, m := range members {
				if !m.Voter || m.Name != m.Address {
					c.Errorf("member %+v, want a voter at its own address", m)
				}
			}
			for len(c.leader().Members()) > 1 {
				propose(1)
				leader := c.leader()
				gone := c.others(leader)[0]
				if err := leader.Remove(c.ctx(), c.nodes[gone].ID()); err != nil {
					c.Fatalf("Remove: %v", err)
				}
				if err := c.nodes[gone].Close(); err != nil {
					c.Errorf("Close of %s: %v", gone, err)
				}
				c.nodes[gone] = nil
			}
			propose(5)
			leader := c.leader()
			var member *raftlog.MemberError
			if err := leader.Remove(c.ctx(), leader.ID()); !errors.As(err, &member) {
				c.Errorf("Remove of the last voter = %v, want a MemberError", err)
			}
		})
	})
	t.Run("a_cluster_of_one_without_a_network_grows_after_it_was_opened_with_one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 0, raftlog.Options{})
			c.dirs["n1"], c.names = t.TempDir(), []string{"n1"}
			c.nodes["n1"] = open(t, c.dirs["n1"], raftlog.Options{Name: "n1"})
			log, term := c.lead("n1")
			if _, err := log.Propose(c.ctx(), begin(term.Epoch, 0)); err != nil {
				t.Fatal(err)
			}
			c.close()
			c.start("n1")
			c.grow()
			c.grow()
			defer c.close()
			log = c.leader()
			if m := log.Members(); len(m) != 3 || m[0].Address != "n1" {
				t.Errorf("members %+v, want the first at n1", m)
			}
			if err := log.Transfer(c.ctx(), c.nodes["n3"].ID()); err != nil {
				t.Fatal(err)
			}
			c.lead("n3")
			c.settle()
		})
	})
	t.Run("a_member_votes_when_it_has_caught_up_and_not_before", func(t *testing.T) {
		in(t, 1, func(c *cluster) {
			log, term := c.lead(c.names...)
			late := c.start("n2")
			c.fabric.isolate("n2")
			ctx, cancel := context.WithTimeout(c.ctx(), 10*time.Second)
			defer cancel()
			m := raftlog.Member{ID: late.ID(), Address: "n2"}
			if err := log.Join(ctx, m); !errors.Is(err, context.DeadlineExceeded) {
				c.Errorf("Join of a node that hears nothing = %v, want the context's error", err)
			}
			if m := log.Members(); len(m) != 2 || m[1].Voter {
				c.Errorf("members %+v, want the second not to vote", m)
			}
			if _, err := log.Propose(c.ctx(), begin(term.Epoch, 0)); err != nil {
				c.Errorf("a member that does not vote is waited for: %v", err)
			}
			c.fabric.heal()
			for range 2 {
				if err := log.Join(c.ctx(), m); err != nil {
					c.Errorf("Join again: %v", err)
				}
			}
			if m := log.Members(); len(m) != 2 || !m[1].Voter {
				c.Errorf("members %+v, want two voters", m)
			}
			for _, bad := range []raftlog.Member{{}, {ID: "n3", Address: "n3"}, {ID: late.ID()}, {ID: log.ID(), Address: "n9"},
				{ID: "n3-0123456789abcdef", Address: "n2"}} {
				var member *raftlog.MemberError
				if err := log.Join(c.ctx(), bad); !errors.As(err, &member) {
					c.Errorf("Join of %+v = %v, want a MemberError", bad, err)
				}
			}
			if err := late.Join(c.ctx(), m); !errors.Is(err, driverlog.ErrNotLeader) {
				c.Errorf("Join at a follower = %v, want ErrNotLeader", err)
			}
			c.settle()
		})
	})
	t.Run("a_cut_off_leader_does_not_know_and_loses_nothing/R-02", func(t *testing.T) {
		in(t, 3, func(c *cluster) {
			old, term := c.lead(c.names...)
			if _, err := old.Propose(c.ctx(), begin(term.Epoch, 0)); err != nil {
				c.Fatal(err)
			}
			c.fabric.isolate(c.nameOf(old))
			cmd := begin(term.Epoch, 1)
			cmd.Request = driverlog.RequestID{Proposer: term.Epoch, Seq: 1}
			ctx, cancel := context.WithTimeout(c.ctx(), 100*time.Millisecond)
			defer cancel()
			before := time.Now()
			_, err := old.Propose(ctx, cmd)
			if !errors.Is(err, driverlog.ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
				c.Errorf("Propose = %v, want ErrUnknown around the context's error", err)
			}
			if d := time.Since(before); d != 100*time.Millisecond {
				c.Errorf("Propose took %s, want 100ms", d)
			}
			if _, err := old.Propose(c.ctx(), cmd); !errors.Is(err, driverlog.ErrUnknown) {
				c.Errorf("Propose = %v, want ErrUnknown when the lease is over", err)
			}
			<-term.Lost
			next, nextTerm := c.lead(c.others(old)...)
			if nextTerm.Epoch <= term.Epoch || next.Status().Term <= 1 {
				c.Errorf("epoch %d follows %d", nextTerm.Epoch, term.Epoch)
			}
			cmd.Epoch = nextTerm.Epoch
			for i, want := range []bool{false, true} {
				res, err := next.Propose(c.ctx(), cmd)
				if err != nil || res.Duplicate != want {
					c.Errorf("Propose %d = %+v, %v; want Duplicate %t", i, res, err, want)
				}
			}
			c.fabric.heal()
			c.settle() // the old leader has entries of its own where the others have decided; it must not apply them
			state, err := old.State(c.ctx())
			if a := state.App("counts"); err != nil || a.Next != 2 {
				c.Errorf("%d batches, %v; want 2", a.Next, err)
			}
			if _, err := old.Propose(c.ctx(), begin(term.Epoch, 2)); !errors.Is(err, driverlog.ErrNotLeader) {
				c.Errorf("Propose to the old leader = %v, want ErrNotLeader", err)
			} else if e := new(raftlog.NotLeaderError); !errors.As(err, &e) || e.Leader.ID != next.ID() {
				c.Errorf("%v does not name %s", err, next.ID())
			}
		})
	})
	t.Run("a_leader_that_hears_nobody_gives_way", func(t *testing.T) {
		in(t, 3, func(c *cluster) {
			old, term := c.lead(c.names...)
			for _, n := range c.others(old) {
				c.fabric.block(n, c.nameOf(old))
			}
			<-term.Lost
			next, nextTerm := c.lead(c.others(old)...)
			if _, err := next.Propose(c.ctx(), begin(nextTerm.Epoch, 0)); err != nil {
				c.Error(err)
			}
			c.fabric.heal()
			c.settle()
		})
	})
	t.Run("slow_ways_slow_it_down_and_nothing_else", func(t *testing.T) {
		in(t, 3, func(c *cluster) {
			c.fabric.slow(20 * time.Millisecond)
			log, term := c.lead(c.names...)
			for id := range int64(20) {
				if _, err := log.Propose(c.ctx(), begin(term.Epoch, id)); err != nil {
					c.Fatal(err)
				}
			}
			c.settle()
		})
	})
	t.Run("a_new_leader_has_applied_all_before_it_answers/R-03", func(t *testing.T) {
		in(t, 3, func(c *cluster) {
			next := int64(0)
			for range 5 {
				log, term := c.lead(c.names...)
				state, err := log.State(c.ctx())
				if a := state.App("counts"); err != nil || a.Next != next {
					c.Fatalf("%d batches, %v; want %d", a.Next, err, next)
				}
				for range 8 {
					if _, err := log.Propose(c.ctx(), begin(term.Epoch, next)); err != nil {
						c.Fatal(err)
					}
					next++
				}
				if err := log.Transfer(c.ctx(), ""); err != nil {
					c.Fatal(err)
				}
				<-term.Lost
				// Not even after its LeaderStart: at once.
				for _, n := range c.others(log) {
					if l := c.nodes[n]; l.Leads() {
						state, err := l.State(c.ctx())
						if a := state.App("counts"); err != nil || a.Next != next {
							c.Errorf("%d batches, %v; want %d", a.Next, err, next)
						}
					}
				}
			}
			c.settle()
		})
	})
	t.Run("a_leader_that_cannot_start_its_term_gives_way_and_tries_again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow := raftlog.Timeouts{Heartbeat: 30 * time.Second, Election: 30 * time.Second, Lease: 30 * time.Second}
			var said strings.Builder // read when the node is closed
			c := newCluster(t, 1, raftlog.Options{Timeouts: slow, Logger: slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))})
			defer c.close()
			c.opts.Logger = nil
			c.grow()
			c.grow()
			log, term := c.lead("n1")
			factory{}.Depose(t, log)
			<-term.Lost
			c.fabric.isolate("n1")
			time.AfterFunc(8*time.Second, c.fabric.heal) // the lease lasts
			before := time.Now()
			next, nextTerm := c.lead(c.names...)
			if d := time.Since(before); d < 5*time.Second || nextTerm.Epoch <= term.Epoch {
				t.Errorf("epoch %d follows %d after %s", nextTerm.Epoch, term.Epoch, d)
			}
			if _, err := next.Propose(c.ctx(), begin(nextTerm.Epoch, 0)); err != nil {
				t.Error(err) // no LeaderStart that was given up comes after it
			}
			c.settle()
			c.close()
			if !strings.Contains(said.String(), "leadership is handed over") {
				t.Errorf("it says %q", said.String())
			}
		})
	})
	t.Run("half_of_four_voters_decide_nothing/R-01", func(t *testing.T) {
		in(t, 4, func(c *cluster) {
			log, term := c.lead(c.names...)
			gone := c.others(log)[:2]
			for _, n := range gone {
				c.fabric.isolate(n)
			}
			if _, err := log.Propose(c.ctx(), begin(term.Epoch, 0)); !errors.Is(err, driverlog.ErrUnknown) {
				c.Errorf("Propose = %v, want ErrUnknown", err)
			}
			for _, n := range c.names {
				if state, err := c.nodes[n].State(c.ctx()); err != nil || state.App("counts").Next != 0 {
					c.Errorf("%s has applied what half of the voters have", n)
				}
			}
			c.fabric.heal()
			c.leader()
			c.settle()
		})
	})
	t.Run("all_cut_at_once_lose_nothing_answered/R-16", func(t *testing.T) {
		in(t, 3, func(c *cluster) {
			log, term := c.lead(c.names...)
			for id := range int64(20) {
				if _, err := log.Propose(c.ctx(), begin(term.Epoch, id)); err != nil {
					c.Fatal(err)
				}
			}
			dirs := map[string]string{}
			for _, n := range c.names {
				dirs[n] = c.TempDir()
				c.nodes[n].Still(func(from string) { copyDir(c, from, dirs[n]) })
			}
			c.close()
			c.dirs = dirs
			for _, n := range c.names {
				c.start(n)
			}
			state, err := c.leader().State(c.ctx())
			if a := state.App("counts"); err != nil || a.Next != 20 {
				c.Errorf("%d batches, %v; want 20", a.Next, err)
			}
			c.settle()
		})
	})
	t.Run("a_planned_stop_hands_leadership_over", func(t *testing.T) {
		in(t, 3, func(c *cluster) {
			log, term := c.lead(c.names...)
			before := time.Now()
			if err := log.Resign(c.ctx()); err != nil {
				c.Fatal(err)
			}
			<-term.Lost
			if _, next := c.lead(c.others(log)...); next.Epoch <= term.Epoch {
				c.Errorf("epoch %d follows %d", next.Epoch, term.Epoch)
			}
			if d := time.Since(before); d > 500*time.Millisecond {
				c.Errorf("another led after %s", d)
			}
		})
	})
	t.Run("a_leader_is_removed_by_its_successor", func(t *testing.T) {
		in(t, 3, func(c *cluster) {
			log := c.leader()
			err := log.Remove(c.ctx(), log.ID())
			var not *raftlog.NotLeaderError
			if !errors.As(err, &not) || not.Leader.ID == "" || not.Leader.ID == log.ID() {
				c.Fatalf("Remove of the leader = %v, want a NotLeaderError with another", err)
			}
			next, _ := c.lead(c.others(log)...)
			if err := next.Remove(c.ctx(), log.ID()); err != nil {
				c.Fatal(err)
			}
			if n := len(next.Members()); n != 2 {
				c.Errorf("%d members, want 2", n)
			}
		})
	})
	t.Run("a_member_comes_back_at_another_address", func(t *testing.T) {
		in(t, 3, func(c *cluster) {
			log := c.leader()
			name := c.others(log)[0]
			if err := c.nodes[name].Close(); err != nil {
				c.Fatal(err)
			}
			opts := c.opts
			opts.Name, opts.Address, opts.Network = name, "moved", c.fabric.listen("moved")
			c.nodes[name] = open(c, c.dirs[name], opts)
			if err := log.Join(c.ctx(), raftlog.Member{ID: c.nodes[name].ID(), Address: "moved"}); err != nil {
				c.Fatal(err)
			}
			c.leader()
			c.settle()
		})
	})
	t.Run("a_member_far_behind_gets_a_snapshot", func(t *testing.T) {
		in(t, 3, func(c *cluster) {
			log, term := c.lead(c.names...)
			gone := c.others(log)[0]
			if err := c.nodes[gone].Close(); err != nil {
				c.Fatal(err)
			}
			for id := range int64(200) {
				cmds := []driverlog.Command{begin(term.Epoch, id),
					{Kind: driverlog.Prepared, Epoch: term.Epoch, App: "counts", Batch: id},
					{Kind: driverlog.Committed, Epoch: term.Epoch, App: "counts", Batch: id}}
				if _, err := log.ProposeAll(c.ctx(), cmds); err != nil {
					c.Fatal(err)
				}
			}
			if err := log.Snapshot(c.ctx()); err != nil {
				c.Fatal(err)
			}
			c.start(gone)
			c.settle()
			if got := c.nodes[gone].Status(); got.Cluster != log.Cluster() || got.Leader.ID != log.ID() {
				c.Errorf("status %+v, want cluster %s under %s", got, log.Cluster(), log.ID())
			}
		})
	})
}

// Whoever is asked to lead hears of it, and does not come to be elected: the transfer does not wait for it for ever, nor does a planned stop.
func TestTheOtherIsNotElected(t *testing.T) {
	in(t, 5, func(c *cluster) {
		log, _ := c.lead("n1")
		for _, from := range []string{"n2", "n3", "n4", "n5"} {
			for _, to := range []string{"n2", "n3", "n4", "n5"} {
				if from != to {
					c.fabric.block(from, to) // only n1 reaches a majority
				}
			}
		}
		for name, hand := range map[string]func(ctx context.Context) error{
			"Transfer": func(ctx context.Context) error { return log.Transfer(ctx, c.nodes["n2"].ID()) },
			"Resign":   log.Resign,
		} {
			began := time.Now()
			ctx, cancel := context.WithTimeout(c.ctx(), time.Hour)
			if err := hand(ctx); !errors.Is(err, raftlog.ErrNotElected) || time.Since(began) > time.Minute {
				t.Errorf("%s = %v after %v", name, err, time.Since(began))
			}
			cancel()
			c.lead("n1")
		}
		c.fabric.heal()
	})
}

package raftlog_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// A room is how much is free on the disk of a node.
type room struct{ atomic.Int64 }

func (r *room) of(opts raftlog.Options) raftlog.Options {
	return raftlog.WithSpace(opts, 1<<40, r.Load)
}

const (
	plenty = 10 * raftlog.DefaultMinFree
	little = raftlog.DefaultMinFree - 1
	none   = raftlog.DefaultMinFree/4 - 1
)

func TestSpace(t *testing.T) {
	in := func(name string, run func(t *testing.T, r *room)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := new(room)
				r.Store(plenty)
				run(t, r)
			})
		})
	}
	// three are nodes of which the first leads, and has the room r; the others have plenty.
	three := func(t *testing.T, r *room) (*cluster, *raftlog.Log, driverlog.Term) {
		c := newCluster(t, 1, r.of(raftlog.Options{}))
		other := new(room)
		other.Store(plenty)
		c.opts = other.of(raftlog.Options{})
		c.grow()
		c.grow()
		log, term := c.lead(c.names...)
		if c.nameOf(log) != "n1" {
			t.Fatalf("%s leads", c.nameOf(log))
		}
		return c, log, term
	}
	in("a_leader_with_little_room_hands_leadership_over_before_its_disk_is_full", func(t *testing.T, r *room) {
		c, old, term := three(t, r)
		defer c.close()
		r.Store(little)
		before := time.Now()
		<-term.Lost
		next, nextTerm := c.lead(c.others(old)...)
		if d := time.Since(before); d > 2*time.Second {
			t.Errorf("another leads after %s, want it within a look and a handover", d)
		}
		if _, err := next.Propose(c.ctx(), begin(nextTerm.Epoch, 0)); err != nil {
			t.Error(err)
		}
		if s := old.Status(); !s.LowSpace || s.Free != little || s.Poisoned != nil {
			t.Errorf("status %+v, want a node that is well and has little room", s)
		}
		c.settle() // it follows
	})
	in("a_node_with_little_room_gives_leadership_back", func(t *testing.T, r *room) {
		c, old, _ := three(t, r)
		defer c.close()
		r.Store(little)
		give := func() {
			for {
				next, term := c.lead(c.others(old)...)
				err := next.Transfer(c.ctx(), old.ID())
				if err == nil {
					return
				}
				if !errors.Is(err, driverlog.ErrNotLeader) {
					t.Fatal(err)
				}
				<-term.Lost // it was over, and its driver about to be told
			}
		}
		for range 3 { // whoever insists
			give()
			c.lead(c.others(old)...)
		}
		r.Store(plenty)
		<-time.After(5 * time.Second)
		give()
		if _, err := old.Lead(c.ctx()); err != nil {
			t.Error(err)
		}
		if s := old.Status(); s.LowSpace {
			t.Errorf("status %+v, want one with room", s)
		}
	})
	in("two_nodes_with_little_room_let_the_third_lead", func(t *testing.T, r *room) {
		c := newCluster(t, 2, r.of(raftlog.Options{}))
		defer c.close()
		other := new(room)
		other.Store(plenty)
		c.opts = other.of(raftlog.Options{})
		c.grow()
		r.Store(little)
		if _, err := c.nodes["n3"].Lead(c.ctx()); err != nil {
			t.Error(err)
		}
	})
	in("a_node_alone_waits_for_room", func(t *testing.T, r *room) {
		told := make(chan bool, 8)
		log := open(t, t.TempDir(), r.of(raftlog.Options{Listener: &raftlog.Listener{SpaceChanged: func(_ int64, low bool) { told <- low }}}))
		defer log.Close()
		term, err := log.Lead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.Store(little)
		<-term.Lost
		if !<-told {
			t.Error("the listener was told of room")
		}
		_, err = log.Propose(t.Context(), begin(term.Epoch, 0))
		if !errors.Is(err, driverlog.ErrNotLeader) || !strings.Contains(err.Error(), "bytes are free") {
			t.Errorf("Propose = %v, want that it does not lead, and why", err)
		}
		again := make(chan driverlog.Term)
		go func() {
			term, err := log.Lead(t.Context())
			if err != nil {
				t.Error(err)
			}
			again <- term
		}()
		r.Store(raftlog.DefaultMinFree) // not enough more
		<-time.After(time.Minute)
		select {
		case <-again:
			t.Error("it leads with hardly more room")
		default:
		}
		r.Store(plenty)
		next := <-again
		if <-told || next.Epoch <= term.Epoch {
			t.Errorf("it leads in epoch %d after %d", next.Epoch, term.Epoch)
		}
		if _, err := log.Propose(t.Context(), begin(next.Epoch, 0)); err != nil {
			t.Error(err)
		}
	})
	in("a_node_without_room_stops_and_is_not_opened", func(t *testing.T, r *room) {
		c, old, _ := three(t, r)
		defer c.close()
		r.Store(none)
		<-old.Failed()
		var full *raftlog.SpaceError
		if err := old.Status().Poisoned; !errors.As(err, &full) || full.Free != none {
			t.Errorf("it has stopped for %v, want a SpaceError", err)
		}
		next, term := c.lead(c.others(old)...)
		if _, err := next.Propose(c.ctx(), begin(term.Epoch, 0)); err != nil {
			t.Error(err)
		}
		if err := old.Close(); err != nil {
			t.Error(err)
		}
		dir := c.dirs["n1"]
		if _, err := raftlog.Open(dir, r.of(raftlog.Options{Name: "n1", Address: "n1", Network: c.fabric.listen("n1")})); !errors.As(err, &full) {
			t.Errorf("Open = %v, want a SpaceError", err)
		}
		r.Store(plenty)
		c.opts = r.of(raftlog.Options{})
		c.start("n1")
		c.settle()
	})
	t.Run("nobody_looks_where_nothing_is_to_be_free", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			log := open(t, t.TempDir(), raftlog.WithSpace(raftlog.Options{MinFree: -1}, 1<<40, func() int64 { t.Error("somebody looks"); return 0 }))
			defer log.Close()
			if _, err := log.Lead(t.Context()); err != nil {
				t.Error(err)
			}
			<-time.After(time.Minute)
			if s := log.Status(); s.Free != -1 || s.LowSpace {
				t.Errorf("status %+v", s)
			}
		})
	})
	t.Run("a_small_disk_need_not_be_free", func(t *testing.T) {
		const small = 64 << 20 // as large as the folder in memory of a container
		log := open(t, t.TempDir(), raftlog.WithSpace(raftlog.Options{}, small, func() int64 { return small / 10 }))
		defer log.Close()
		if _, err := log.Lead(t.Context()); err != nil || log.Status().LowSpace {
			t.Errorf("it does not lead: %v, %+v", err, log.Status())
		}
	})
	t.Run("the_disk_of_a_folder_is_asked", func(t *testing.T) {
		log := open(t, t.TempDir(), raftlog.Options{MinFree: 1})
		defer log.Close()
		if s := log.Status(); s.Free == 0 {
			t.Errorf("status %+v, want what is free", s)
		}
	})
	t.Run("a_disk_that_does_not_say_what_is_free_stops_the_node", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			hang := make(chan struct{})
			var hangs atomic.Bool
			log := open(t, t.TempDir(), raftlog.WithSpace(raftlog.Options{}, 1<<40, func() int64 {
				if hangs.Load() {
					<-hang
				}
				return plenty
			}))
			hangs.Store(true)
			before := time.Now()
			<-log.Failed()
			var stall *raftlog.StallError
			if err := log.Status().Poisoned; !errors.As(err, &stall) || time.Since(before) > raftlog.DefaultStall+time.Second {
				t.Errorf("it has stopped for %v after %s, want a StallError", err, time.Since(before))
			}
			if err := log.Close(); err != nil {
				t.Error(err)
			}
			close(hang)
		})
	})
}

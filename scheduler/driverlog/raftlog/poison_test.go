package raftlog_test

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

func TestPoison(t *testing.T) {
	t.Run("the_first_error_of_the_disk_stops_the_node", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fault := &raftlog.Fault{}
			dir := t.TempDir()
			told := make(chan error, 1)
			log := open(t, dir, raftlog.WithFault(raftlog.Options{Listener: &raftlog.Listener{Poisoned: func(err error) { told <- err }}}, fault))
			term, err := log.Lead(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := log.Propose(t.Context(), begin(term.Epoch, 0)); err != nil {
				t.Fatal(err)
			}
			broken := errors.New("input/output error")
			fault.Fail(broken)
			_, err = log.Propose(t.Context(), begin(term.Epoch, 1))
			var poison *raftlog.PoisonError
			if !errors.Is(err, driverlog.ErrUnknown) || !errors.As(err, &poison) || !errors.Is(err, broken) {
				t.Errorf("Propose = %v, want ErrUnknown around a PoisonError", err)
			}
			<-term.Lost
			if err := <-told; !errors.Is(err, broken) {
				t.Errorf("listener was told %v", err)
			}
			fault.Fail(nil) // the disk seems to be well again, which says nothing
			<-time.After(time.Minute)
			if _, err := log.Propose(t.Context(), begin(term.Epoch, 1)); !errors.Is(err, broken) {
				t.Errorf("Propose later = %v, want the first error", err)
			}
			if _, err := log.Lead(t.Context()); !errors.Is(err, broken) {
				t.Errorf("Lead = %v, want the first error", err)
			}
			if _, err := log.State(t.Context()); !errors.Is(err, broken) {
				t.Errorf("State = %v, want the first error", err)
			}
			if s := log.Status(); !errors.Is(s.Poisoned, broken) || s.Role != "stopped" {
				t.Errorf("status %+v, want it stopped", s)
			}
			if err := log.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			log = open(t, dir, raftlog.Options{})
			defer log.Close()
			state, err := log.State(t.Context())
			if a := state.App("counts"); err != nil || a.Next != 1 {
				t.Errorf("%d batches after another Open, %v; want 1", a.Next, err)
			}
		})
	})
	t.Run("a_disk_that_hangs_stops_the_node_and_keeps_the_folder", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fault := &raftlog.Fault{}
			dir := t.TempDir()
			log := open(t, dir, raftlog.WithFault(raftlog.Options{}, fault))
			term, err := log.Lead(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			release, hung := fault.Hang()
			before := time.Now()
			_, err = log.Propose(t.Context(), begin(term.Epoch, 0))
			<-hung
			var stall *raftlog.StallError
			if !errors.Is(err, driverlog.ErrUnknown) || !errors.As(err, &stall) {
				t.Errorf("Propose = %v, want ErrUnknown around a StallError", err)
			}
			if d := time.Since(before); d != raftlog.DefaultStall {
				t.Errorf("Propose took %s, want %s", d, raftlog.DefaultStall)
			}
			var poison *raftlog.PoisonError
			if err := log.Close(); !errors.As(err, &poison) {
				t.Errorf("Close = %v, want a PoisonError", err)
			}
			var locked *raftlog.LockedError
			if _, err := raftlog.Open(dir, raftlog.Options{}); !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
				t.Errorf("Open while the write hangs = %v, want a LockedError that names this process", err)
			}
			release()
			again := open(t, dir, raftlog.Options{LockTimeout: time.Minute})
			defer again.Close()
			if _, err := again.Lead(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("a_write_that_was_given_up_lands_and_is_taken_back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fault := &raftlog.Fault{}
			c := newCluster(t, 1, raftlog.WithFault(raftlog.Options{}, fault))
			defer c.close()
			c.opts = raftlog.Options{}
			c.grow()
			c.grow()
			old, term := c.lead(c.names...)
			name := c.nameOf(old)
			release, hung := fault.Hang()
			before := time.Now()
			mine := begin(term.Epoch, 0)
			mine.Time = 1000
			if _, err := old.Propose(c.ctx(), mine); !errors.Is(err, driverlog.ErrUnknown) {
				t.Errorf("Propose = %v, want ErrUnknown", err)
			}
			<-hung
			next, nextTerm := c.lead(c.others(old)...)
			if _, err := next.Propose(c.ctx(), begin(nextTerm.Epoch, 0)); err != nil {
				t.Error(err)
			}
			if d := time.Since(before); d > 15*time.Second {
				t.Errorf("another decides after %s, want it within 15s", d)
			}
			release()
			synctest.Wait() // until it has landed
			if err := old.Close(); err != nil {
				t.Error(err)
			}
			c.nodes[name] = nil
			var last raftlog.Entry
			if _, err := raftlog.Dump(c.dirs[name], func(e raftlog.Entry) error { last = e; return nil }); err != nil {
				t.Fatal(err)
			}
			if len(last.Commands) != 1 || last.Commands[0].Epoch != term.Epoch || last.Commands[0].Time != mine.Time {
				t.Errorf("the last entry of the old leader is %+v, want the one that was given up", last)
			}
			c.start(name)
			c.settle()
			state, err := c.nodes[name].State(c.ctx())
			if a := state.App("counts"); err != nil || a.Next != 1 || a.Open[0].Time != 0 {
				t.Errorf("%+v, %v; want the batch of the new leader", a, err)
			}
		})
	})
	t.Run("a_stop_while_the_disk_hangs_ends_in_time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fault := &raftlog.Fault{}
			log := open(t, t.TempDir(), raftlog.WithFault(raftlog.Options{}, fault))
			term, err := log.Lead(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			release, hung := fault.Hang()
			proposed := make(chan error, 1)
			go func() {
				_, err := log.Propose(t.Context(), begin(term.Epoch, 0))
				proposed <- err
			}()
			<-hung // and nobody has noticed
			before := time.Now()
			var stall *raftlog.StallError
			if err := log.Close(); !errors.As(err, &stall) {
				t.Errorf("Close = %v, want a StallError", err)
			}
			if d := time.Since(before); d > raftlog.DefaultStall+time.Second {
				t.Errorf("Close took %s, want not much more than %s", d, raftlog.DefaultStall)
			}
			if err := <-proposed; !errors.Is(err, driverlog.ErrUnknown) {
				t.Errorf("Propose = %v, want ErrUnknown", err)
			}
			release()
		})
	})
	t.Run("a_leader_whose_disk_fails_gives_way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fault := &raftlog.Fault{}
			c := newCluster(t, 1, raftlog.WithFault(raftlog.Options{}, fault))
			defer c.close()
			c.opts = raftlog.Options{}
			c.grow()
			c.grow()
			old, term := c.lead(c.names...)
			fault.Fail(errors.New("input/output error"))
			if _, err := old.Propose(c.ctx(), begin(term.Epoch, 0)); !errors.Is(err, driverlog.ErrUnknown) {
				t.Errorf("Propose = %v, want ErrUnknown", err)
			}
			next, nextTerm := c.lead(c.others(old)...)
			if _, err := next.Propose(c.ctx(), begin(nextTerm.Epoch, 0)); err != nil {
				t.Error(err)
			}
		})
	})
}

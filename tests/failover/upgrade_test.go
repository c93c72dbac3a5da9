package failover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/streamingcontext"
)

// leader returns the process of the newest term.
func (c *cluster) leader() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	var newest *process
	for _, name := range c.names {
		if p := c.processes[name]; newest == nil || p.epoch > newest.epoch {
			newest = p
		}
	}
	return newest
}

// replace stops a process as planned and starts it again with another build, which is to stand by.
func (c *cluster) replace(p *process, b build) *process {
	c.t.Helper()
	p.stop()
	p = c.replaceEnded(p, b)
	if b == first || b == second {
		c.until(bounded, fmt.Sprint(p.name, " of build ", b, " stands by"), func() bool { return p.stands > 0 })
	}
	return p
}

// replaceEnded is replace of a process whose driver has ended.
func (c *cluster) replaceEnded(p *process, b build) *process {
	p.close()
	c.builds[p.name] = b
	p = c.open(p.name, p.dir, false)
	p.drive()
	return p
}

// roll replaces one process after the other, the leader last.
func (c *cluster) roll(b build) {
	c.t.Helper()
	last := c.leader()
	for _, p := range c.all() {
		if p != last {
			c.replace(p, b)
			c.progress(1, bounded)
		}
	}
	c.replace(last, b)
	c.progress(2, bounded)
}

// prepared returns how many batches were prepared by a build.
func (c *cluster) prepared(h history, b build) (n int) {
	for _, cmd := range h.commands {
		if cmd.Kind == driverlog.Prepared && c.ran[cmd.Epoch] == b {
			n++
		}
	}
	return n
}

// The program is replaced on one node after the other while batches are made: other functions, an operator that is named otherwise and keeps its
// state by its UID, an output more. Then it is rolled back, and replaced again. No batch is lost or doubled, and the rows of each are those of
// the build that has prepared it. Shows I1 to I7, I9 to I11, I13 and I14.
func TestTheProgramIsReplacedUnderLoad_E5_Toy14(t *testing.T) {
	for _, n := range []int{3, 1} {
		t.Run(fmt.Sprintf("drivers=%d", n), func(t *testing.T) {
			dir := temporary(t)
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, dir, n, raftlog.Options{Timeouts: raftlog.Fast(), SnapshotEvery: 64, Trailing: 1 << 20}, time.Millisecond)
				c.driveAll()
				c.progress(2, bounded)
				for _, b := range []build{second, first, second} {
					c.roll(b)
				}
				c.loseAll()
				c.progress(3, bounded)
				c.stopAll()
				h := c.check()
				if f, s := c.prepared(h, first), c.prepared(h, second); f < 4 || s < 6 {
					t.Errorf("%d batches of the first build, %d of the second", f, s)
				}
			})
		})
	}
}

// While builds differ the leader is lost inside each step of a batch: a driver of the later build goes on with the batch of the earlier one, and
// then one of the earlier build with that of the later. Where that is prepared, and so is to be committed in the output that only the later build
// has, the earlier lets the later lead.
func TestTheLeaderIsLostWhileBuildsDiffer_E5(t *testing.T) {
	for i, step := range []string{"P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7"} {
		t.Run(step, func(t *testing.T) {
			dir := temporary(t)
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, dir, 3, raftlog.Options{Timeouts: raftlog.Fast(), SnapshotEvery: 64, Trailing: 1 << 20}, time.Millisecond)
				c.driveAll()
				c.progress(2, bounded)
				old := c.leader()
				for _, p := range c.all() {
					if p != old {
						c.replace(p, second)
					}
				}
				c.progress(1, bounded)

				s := &strike{step: step, after: i%2 == 0, skip: i % 3}
				c.arm(s)
				release := c.meet(s)
				if s.p != old {
					t.Fatalf("%s leads, want %s of the first build", s.p.name, old.name)
				}
				c.crash(s.p, release, time.Second, func() { c.progress(1, bounded) })
				if by := c.leader(); by.build != second {
					t.Fatalf("%s of build %d leads after the first is lost", by.name, by.build)
				}
				old = c.processes[old.name]
				c.until(bounded, "the earlier build stands by again", func() bool { return old.stands > 0 })
				c.progress(1, bounded)

				s = &strike{step: step, after: i%2 == 1, skip: i % 3}
				c.arm(s)
				release = c.meet(s)
				ctx, cancel := context.WithTimeout(t.Context(), bounded)
				if err := s.p.log.Transfer(ctx, old.log.ID()); err != nil {
					t.Fatal(err)
				}
				cancel()
				release()
				c.until(bounded, fmt.Sprint(old.name, " of the first build leads"), func() bool { return old.epoch > s.p.epoch })
				c.progress(2, bounded)
				var promised *streamingcontext.PromisedError
				if lets := errors.As(old.reason, &promised); lets != (step == "P5" || step == "P6") || lets && promised.Output != "more" {
					t.Errorf("the first build's last term ended with %v", old.reason)
				}
				c.stopAll()
				h := c.check()
				if f, s := c.prepared(h, first), c.prepared(h, second); f < 4 || s < 2 {
					t.Errorf("%d batches of the first build, %d of the second", f, s)
				}
			})
		})
	}
}

// A driver that is alone and lacks an output in which a batch is to be committed is refused; one that has it commits the batch.
func TestWhatIsPromisedWaitsForABuildThatHasTheOutput_E5(t *testing.T) {
	dir := temporary(t)
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, dir, 1, raftlog.Options{Timeouts: raftlog.Fast(), Trailing: 1 << 20}, 0)
		c.replaceEnded(c.processes["d1"], second)
		c.progress(2, bounded)
		s := &strike{step: "P5"}
		c.arm(s)
		release := c.meet(s)
		image := c.lose(s.p)[0]
		release()
		c.bury(s.p)
		c.builds["d1"] = first
		p := c.open("d1", image, false)
		p.drive()
		patience, cancel := context.WithTimeout(t.Context(), bounded)
		defer cancel()
		select {
		case <-p.ended:
		case <-patience.Done():
			t.Fatalf("it is not refused\n%s", c.describe())
		}
		var promised *streamingcontext.PromisedError
		if !errors.As(p.err, &promised) || !errors.Is(p.err, dstream.ErrChanged) || promised.Output != "more" {
			t.Errorf("it ends with %v, want a PromisedError of output more", p.err)
		}
		c.replaceEnded(p, second)
		c.progress(2, bounded)
		c.stopAll()
		c.check()
	})
}

// A build that cannot go on from what the log has is refused before it stands by, with the node that differs; the others go on, and the driver
// does with a build that can.
func TestABuildThatCannotGoOnIsRefused_E5(t *testing.T) {
	for _, test := range []struct {
		build build
		names string
	}{
		{wider, `window 2000 ms`},
		{nameless, `"totals" uid "totals"`},
	} {
		t.Run(test.names, func(t *testing.T) {
			dir := temporary(t)
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, dir, 3, raftlog.Options{Timeouts: raftlog.Fast(), SnapshotEvery: 64, Trailing: 1 << 20}, time.Millisecond)
				c.driveAll()
				c.progress(2, bounded)
				leads := c.leader()
				var other *process
				for _, p := range c.all() {
					if p != leads {
						other = p
					}
				}
				refused := c.replace(other, test.build)
				patience, cancel := context.WithTimeout(t.Context(), 10*interval)
				defer cancel()
				select {
				case <-refused.ended:
				case <-patience.Done():
					t.Fatalf("it is not refused\n%s", c.describe())
				}
				var changed *dstream.ChangedError
				if err := refused.err; !errors.As(err, &changed) || !strings.Contains(changed.Was+changed.Is, test.names) {
					t.Errorf("it ends with %v, want a ChangedError that names %s", err, test.names)
				}
				if refused.stands > 0 || refused.epoch > 0 {
					t.Errorf("it stood by %d times, and led epoch %d", refused.stands, refused.epoch)
				}
				if c.leader() != leads {
					t.Errorf("%s leads, want %s", c.leader().name, leads.name)
				}
				c.progress(2, bounded)
				again := c.replaceEnded(refused, second)
				c.until(bounded, "the driver stands by with a build that can go on", func() bool { return again.stands > 0 })
				c.progress(1, bounded)
				c.stopAll()
				c.check()
			})
		})
	}
}

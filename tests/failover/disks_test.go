package failover

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// A disk is what the log of a process is written to.
type disk struct {
	mu   sync.Mutex
	hang chan struct{} // writes wait until it is closed; nil unless the disk hangs
	err  error         // of writes
	late bool          // they take effect all the same
	met  int           // writes that met a fault
	well chan struct{} // closed when the first write has met one
}

func (d *disk) fail(err error, late bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.late, d.well = err, late, make(chan struct{})
}

// stop lets writes wait until the function it returns is called; then they take effect.
func (d *disk) stop() (goOn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	hang := make(chan struct{})
	d.hang, d.well = hang, make(chan struct{})
	return sync.OnceFunc(func() { close(hang) })
}

// pass passes a write on, or not.
func (d *disk) pass(write func() error) error {
	d.mu.Lock()
	hang, err, late := d.hang, d.err, d.late
	if hang != nil || err != nil {
		if d.met++; d.met == 1 {
			close(d.well)
		}
	}
	d.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if err != nil && !late {
		return err
	}
	return errors.Join(write(), err)
}

// The disk of the leader's log hangs, fails, or is full, and has taken the write or not. Within fifteen seconds another leads and a batch is
// committed; the driver whose disk it is ends with what is wrong. When the disk is back nothing of what was given up is seen, in the log of no
// node, and no answer was wrong. Shows I1 to I7, I9, I10 and I13.
func TestTheDiskOfTheLeaderFails_Toy11(t *testing.T) {
	faults := []string{"hang", "EIO", "EIO after the write", "ENOSPC"}
	var gaps []time.Duration
	for i := range *disks {
		fault, step := faults[i%len(faults)], steps[(1+3*i+i/len(steps))%len(steps)]
		t.Run(fmt.Sprintf("%d/%s/%s", i, strings.ReplaceAll(fault, " ", "_"), step), func(t *testing.T) {
			dir := temporary(t)
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, dir, 3, raftlog.Options{Timeouts: raftlog.Fast(), SnapshotEvery: 64, Trailing: 1 << 20}, time.Millisecond)
				c.driveAll()
				c.progress(2, bounded)
				s := &strike{step: step}
				c.arm(s)
				release := c.meet(s)
				p, goOn := s.p, func() {}
				epoch := p.epoch
				var cause error
				switch fault {
				case "hang":
					goOn = p.disk.stop()
					defer goOn()
				case "ENOSPC":
					cause = fmt.Errorf("write raft.db: %w", syscall.ENOSPC)
					p.disk.fail(cause, false)
				default:
					cause = fmt.Errorf("sync raft.db: %w", syscall.EIO)
					p.disk.fail(cause, fault == "EIO after the write")
				}
				release()
				<-p.disk.well
				began := time.Now()
				c.until(bounded, "a batch of another leader", func() bool {
					n := len(c.committed)
					return n > 0 && c.committed[n-1].cmd.Epoch > epoch
				})
				gaps = append(gaps, time.Since(began))
				if by := c.leader(); by == p {
					t.Errorf("%s leads, whose disk fails", p.name)
				}

				patience := time.NewTimer(bounded)
				defer patience.Stop()
				select {
				case <-p.ended:
				case <-patience.C:
					t.Fatalf("the driver whose disk fails does not end\n%s", c.describe())
				}
				var poison *raftlog.PoisonError
				var stall *raftlog.StallError
				if !errors.As(p.err, &poison) || cause != nil && !errors.Is(p.err, cause) || cause == nil && !errors.As(p.err, &stall) {
					t.Errorf("the driver ends with %v, want %v", p.err, cause)
				}
				met := p.disk.met
				goOn() // the write that was given up takes effect now
				c.progress(2, bounded)
				if p.disk.met != met {
					t.Errorf("%d writes came after the one that was given up", p.disk.met-met)
				}
				if err := p.end(); err != nil {
					t.Logf("close %s: %v", p.name, err)
				}
				c.open(p.name, p.dir, false).drive()
				c.until(bounded, "the driver stands by again", func() bool { return c.processes[p.name].stands > 0 })
				c.progress(2, bounded)
				c.stopAll()
				c.check()
			})
		})
	}
	if n := len(gaps); n > 0 {
		slices.Sort(gaps)
		t.Logf("%d disks failed; to the next committed batch, in fake time: p50 %v, max %v", n, gaps[n/2], gaps[n-1])
	}
}

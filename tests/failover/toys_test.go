package failover

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// These tests are those of the list of what tells a toy from the real thing that this layer can show. The number is that of the list; the
// first is TestLeaderLossInsideEachStep_Toy1.

// A driver is lost between a commit of its sink and the answer; the next one stands still inside the roll-forward of the same batch for ten
// seconds, and wakes up, not told of anything, when a third has gone on. No row is there twice. What a sink does that is killed by itself is
// tested beside each sink.
func TestLostBetweenCommitAndAnswer_Toy3(t *testing.T) {
	for _, skip := range []int{0, 1, 3} {
		t.Run(fmt.Sprintf("outputs_before=%d", skip), func(t *testing.T) {
			dir := temporary(t)
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, dir, 3, raftlog.Options{Timeouts: raftlog.Fast(), SnapshotEvery: 64, Trailing: 1 << 20}, time.Millisecond)
				c.driveAll()
				c.progress(2, bounded)
				lost := &strike{step: "P5", skip: skip, after: true}
				c.arm(lost)
				release := c.meet(lost)
				c.mu.Lock()
				batch := c.committed[len(c.committed)-1].cmd.Batch + 1
				c.mu.Unlock()
				asleep := &strike{step: "P5", skip: skip}
				c.arm(asleep)
				image := c.lose(lost.p)[0]
				release()
				c.bury(lost.p)

				release = c.meet(asleep)
				if asleep.p == lost.p {
					t.Fatal("the lost driver makes the batch visible")
				}
				c.open(lost.p.name, image, false).drive()
				asleep.p.keepFrom()
				c.isolate(asleep.p.name)
				asleep.p.standStill()
				release()
				<-time.After(10 * time.Second)
				c.reach(batch+1, bounded)
				asleep.p.goOn() // as a leader, as far as it knows
				synctest.Wait()
				c.fabric.heal()
				asleep.p.tell()
				c.progress(3, bounded)
				c.stopAll()
				c.check()
			})
		})
	}
}

// Windows with an inverse, updateStateByKey and mapWithState over many batches, with a loss of the leader every twenty or so, are those of
// a plain loop. There is no watermark to check: package dstream has none.
func TestStateUnderFaults_Toy8(t *testing.T) {
	dir := temporary(t)
	sum := newTally()
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(*seed, 8))
		c := newCluster(t, dir, 3, raftlog.Options{Timeouts: raftlog.Fast(), SnapshotEvery: 256, Trailing: 1 << 30}, time.Millisecond)
		c.driveAll()
		for next := int64(0); next < *batches; next += 10 + r.Int64N(21) {
			c.reach(next, time.Hour)
			c.strike(r, &strike{step: steps[r.IntN(len(steps))], kind: kinds[r.IntN(len(kinds))], skip: r.IntN(4), after: r.IntN(2) == 0}, sum)
		}
		c.reach(*batches-1, time.Hour)
		c.stopAll()
		h := c.check()
		sum.runs, sum.terms, sum.commands, sum.batches = 1, c.terms, int64(len(h.commands)), h.state.App("app").Next
	})
	sum.print(t)
}

// Every object of the store that drivers go on from is damaged: cut short, changed, removed. Whoever leads then shows the rows of a plain loop
// or ends with an error that names what is wrong; never with a wrong state. Rewinds to checkpoints before, and checkpoints of versions before,
// are tested in tests/recovery and streamingcontext.
func TestDamagedCheckpoints_Toy9(t *testing.T) {
	dir := temporary(t)
	var whole *cluster
	given := []span{}
	t.Run("whole", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			whole = newCluster(t, dir, 3, raftlog.Options{Timeouts: raftlog.Fast(), Trailing: 1 << 20}, 0)
			whole.driveAll()
			whole.reach(7, time.Minute)
			whole.loseAll() // so that there is something to go on from
			whole.progress(2, bounded)
			whole.stopAll()
			given = whole.checkCommands(whole.check().commands)
		})
	})
	if t.Failed() {
		t.FailNow()
	}
	var names []string
	err := filepath.WalkDir(whole.blobs(), func(path string, d fs.DirEntry, err error) error {
		if info, ierr := d.Info(); err == nil && ierr == nil && !d.IsDir() && info.Size() > 0 {
			name, _ := filepath.Rel(whole.blobs(), path)
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) < 4 {
		t.Fatalf("objects %q, %v", names, err)
	}
	slices.Sort(names)
	refused, exact := 0, 0
	every := 3 // each object in one way, and each way about as often
	if testing.Short() {
		every = 9
	}
	for i, name := range names {
		for j, damage := range []string{"cut", "changed", "removed"} {
			if (i+j)%every != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/object_%d", damage, i), func(t *testing.T) {
				copied := temporary(t)
				if err := os.CopyFS(copied, os.DirFS(whole.dir)); err != nil {
					t.Fatal(err)
				}
				harm(t, damage, filepath.Join(copied, "blobs", name))
				synctest.Test(t, func(t *testing.T) {
					c := whole.reopen(t, copied)
					c.driveAll()
					// Where two end there is no majority for the third, once their processes are gone.
					ended := func() (n int) {
						for _, p := range c.processes {
							select {
							case <-p.ended:
								n++
							default:
							}
						}
						return n
					}
					c.until(5*time.Minute, "drivers go on, or end", func() bool { return len(c.committed) > 1 || ended() > 1 })
					if ended() == 0 {
						exact++
						c.stopAll()
						c.check()
						return
					}
					refused++
					for _, p := range c.all() {
						p.cancel()
						<-p.ended
						if p.err != nil && !strings.Contains(p.err.Error(), name) {
							t.Errorf("%s ends with an error that does not name %s: %v", p.name, name, p.err)
						}
					}
					for _, p := range c.all() {
						p.close()
					}
					want := plainly(given)
					for key, rows := range c.rows() {
						if len(want[key]) > 0 && !cmp.Equal(want[key], rows) {
							t.Errorf("rows of %s:\n%s", key, cmp.Diff(want[key], rows))
						}
					}
				})
			})
		}
	}
	t.Logf("%d objects; drivers went on exactly after %d damages and refused %d", len(names), exact, refused)
	if refused == 0 {
		t.Error("nothing that was damaged was needed")
	}
}

func harm(t *testing.T, damage, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch damage {
	case "removed":
		err = os.Remove(path)
	case "cut":
		err = os.WriteFile(path, data[:len(data)/2], 0o644)
	case "changed":
		data[len(data)/2] ^= 1
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What drivers keep does not grow with the number of batches, nor with that of leaders: the files of the log, the state in it, blobs,
// goroutines and open files are after all batches what they were after half of them. Rows of the sink are what grows.
func TestNothingGrows_Toy13(t *testing.T) {
	dir := temporary(t)
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(*seed, 13))
		c := newCluster(t, dir, 3, raftlog.Options{Timeouts: raftlog.Fast(), SnapshotEvery: 64, Trailing: 64}, 0)
		c.driveAll()
		sum := newTally()
		until := func(batch int64) {
			for next := max(0, batch-*growth/2); next < batch; next += max(25, *growth/100) {
				c.reach(next, 100*time.Hour)
				c.strike(r, &strike{step: steps[r.IntN(len(steps))], kind: kinds[r.IntN(len(kinds))]}, sum)
			}
			c.reach(batch-1, 100*time.Hour)
		}
		until(*growth / 2)
		half := c.measure()
		until(*growth)
		full := c.measure()
		for i, m := range full {
			t.Logf("%-24s after %d batches %d, after %d batches %d", m.what, *growth/2, half[i].n, *growth, m.n)
			if limit := half[i].n + half[i].n/4 + m.slack; m.n > limit {
				t.Errorf("%s grows from %d to %d", m.what, half[i].n, m.n)
			}
		}
		c.stopAll()
		var given []span
		for i := range c.processes["d1"].committedBatches() {
			given = append(given, span{i * perBatch, (i + 1) * perBatch})
		}
		if diff := cmp.Diff(plainly(given), c.rows()); diff != "" {
			t.Errorf("rows by output and batch, and how often they are there (-want +got):\n%s", diff)
		}
	})
}

// committedBatches returns how many batches the driver was told of that they are committed, by number.
func (p *process) committedBatches() int64 {
	n := int64(0)
	for _, a := range p.c.committed {
		n = max(n, a.cmd.Batch+1)
	}
	return n
}

// A measure is something that must not grow by more than a quarter and a slack.
type measure struct {
	what     string
	n, slack int64
}

// measure measures what must not grow.
func (c *cluster) measure() []measure {
	c.t.Helper()
	c.settled()
	size := func(dir string) (bytes, files int64) {
		err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // it has gone meanwhile
			}
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
				files++
			}
			return nil
		})
		if err != nil {
			c.t.Fatal(err)
		}
		return bytes, files
	}
	logs, logFiles := size(filepath.Join(c.dir, "nodes"))
	bytes, blobs := size(c.blobs())
	state := int64(0)
	for _, p := range c.all() {
		s, err := p.log.State(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		state = max(state, int64(len(s.Append(nil))))
	}
	_, temporary := size(filepath.Join(c.dir, "tmp"))
	return []measure{
		{"bytes of the logs", logs, 64 << 10}, {"files of the logs", logFiles, 8}, {"bytes of the log's state", state, 4096},
		{"bytes of blobs", bytes, 16 << 10}, {"blobs", blobs, 24}, {"temporary files", temporary, 4},
		{"goroutines", int64(runtime.NumGoroutine()), 24}, {"open files", int64(openFiles(c.t)), 8},
	}
}

// settled waits until nothing is under way.
func (c *cluster) settled() {
	c.burials.Wait()
	c.progress(4, bounded)
	<-time.After(interval / 2)
	synctest.Wait()
}

package failover

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// A cluster is the drivers of one application, in a bubble, and what they share.
type cluster struct {
	t      *testing.T
	dir    string
	names  []string
	fabric *fabric
	raft   raftlog.Options

	burials sync.WaitGroup

	mu        sync.Mutex // guards all below, and what processes have; nothing else is locked under it
	changed   chan struct{}
	processes map[string]*process // the last of each name
	lives     int                 // folders of nodes made so far
	points    map[string]int      // operations by name
	armed     *strike             // to come
	held      *strike             // that holds an operation
	terms     int
	builds    map[string]build  // of the program, by process; those that are not there have the first
	ran       map[uint64]build  // by epoch
	committed []answer          // Committed commands that were answered
	answers   []answer          // all
	refused   map[decision]bool // commands that drivers were told were not appended
	breaches  []string
}

// An answer is what a driver was told of a command.
type answer struct {
	cmd   driverlog.Command
	index uint64
	at    time.Time
}

// A decision names a command of a term.
type decision struct {
	epoch uint64
	kind  driverlog.Kind
	batch int64
}

// newCluster makes nodes that are members, and drives none of them.
func newCluster(t *testing.T, dir string, n int, opts raftlog.Options, delay time.Duration) *cluster {
	t.Helper()
	c := emptyCluster(t, dir, opts, delay)
	for i := range n {
		name := fmt.Sprintf("d%d", i+1)
		c.names = append(c.names, name)
		p := c.open(name, c.folder(name), i == 0)
		first := c.processes["d1"]
		if _, err := first.log.Lead(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if err := first.log.Join(t.Context(), raftlog.Member{ID: p.log.ID(), Address: name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

func emptyCluster(t *testing.T, dir string, opts raftlog.Options, delay time.Duration) *cluster {
	c := &cluster{t: t, dir: dir, fabric: newFabric(delay), raft: opts, changed: make(chan struct{}), processes: map[string]*process{}, points: map[string]int{}, refused: map[decision]bool{}, builds: map[string]build{}, ran: map[uint64]build{}}
	t.Cleanup(c.abandon)
	return c
}

// reopen opens the nodes of a cluster that has ended, of which dir has a copy, and drives none of them.
func (c *cluster) reopen(t *testing.T, dir string) *cluster {
	t.Helper()
	again := emptyCluster(t, dir, c.raft, c.fabric.delay)
	again.names, again.lives = c.names, c.lives
	for _, p := range c.all() {
		again.open(p.name, filepath.Join(again.dir, "nodes", filepath.Base(p.dir)), false)
	}
	return again
}

func (c *cluster) out() string   { return filepath.Join(c.dir, "out") }
func (c *cluster) blobs() string { return filepath.Join(c.dir, "blobs") }

// folder returns a new folder for a node.
func (c *cluster) folder(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lives++
	return filepath.Join(c.dir, "nodes", fmt.Sprint(name, "-", c.lives))
}

// note changes something, and wakes whoever waits for it.
func (c *cluster) note(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// breach takes note of something that must not be, with c.mu held.
func (c *cluster) breach(format string, args ...any) {
	if len(c.breaches) < 20 {
		c.breaches = append(c.breaches, fmt.Sprintf(format, args...))
	}
}

// answered takes note of answers.
func (p *process) answered(cmds []driverlog.Command, results []driverlog.Result, err error) {
	p.c.note(func() {
		if errors.Is(err, driverlog.ErrNotLeader) && !errors.Is(err, driverlog.ErrUnknown) {
			for _, cmd := range cmds {
				p.c.refused[decision{cmd.Epoch, cmd.Kind, cmd.Batch}] = true
			}
		}
		for i, r := range results {
			cmd, _ := driverlog.DecodeCommand(cmds[i].Append(nil)) // its slices are the proposer's
			a := answer{cmd, r.Index, time.Now()}
			if !r.Duplicate {
				p.c.answers = append(p.c.answers, a)
			}
			if cmd.Kind == driverlog.Committed {
				p.c.committed = append(p.c.committed, a)
			}
		}
	})
}

// until waits until something holds, for bound at most.
func (c *cluster) until(bound time.Duration, what string, holds func() bool) {
	c.t.Helper()
	timer := time.NewTimer(bound)
	defer timer.Stop()
	for {
		c.mu.Lock()
		ok, changed := holds(), c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			c.t.Fatalf("not within %v: %s\n%s", bound, what, c.describe())
		}
	}
}

// progress waits until so many more batches are committed, and returns how long the first of them took.
func (c *cluster) progress(n int, bound time.Duration) time.Duration {
	c.t.Helper()
	begin := time.Now()
	c.mu.Lock()
	have := len(c.committed)
	c.mu.Unlock()
	c.until(bound, fmt.Sprint(n, " more batches are committed (I13)"), func() bool { return len(c.committed) >= have+n })
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.committed[have].at.Sub(begin)
}

// reach waits until a batch is committed.
func (c *cluster) reach(batch int64, bound time.Duration) {
	c.t.Helper()
	c.until(bound, fmt.Sprint("batch ", batch, " is committed"), func() bool {
		n := len(c.committed)
		return n > 0 && c.committed[n-1].cmd.Batch >= batch
	})
}

func (c *cluster) describe() string {
	text := ""
	for _, name := range c.names {
		c.mu.Lock()
		p := c.processes[name]
		text += fmt.Sprintf("%s: epoch %d, stood by %d times, stands still %t, last term ended with %v", name, p.epoch, p.stands, p.gate != nil, p.reason)
		c.mu.Unlock()
		s := p.log.Status()
		text += fmt.Sprintf("; %s of raft term %d, index %d, applied %d, poisoned %v", s.Role, s.Term, s.Index, s.Applied, s.Poisoned)
		select {
		case <-p.ended:
			text += fmt.Sprintf("; has ended with %v", p.err)
		default:
		}
		text += "\n"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.breaches {
		text += b + "\n"
	}
	return text
}

// lose loses processes, all at once: nothing that they do has an effect any more, and their nodes' folders are what they are. It returns
// copies of these.
func (c *cluster) lose(lost ...*process) (dirs []string) {
	c.t.Helper()
	c.mu.Lock()
	for _, p := range lost {
		p.lost = true
		if p.gate != nil {
			close(p.gate)
			p.gate = nil
		}
	}
	c.mu.Unlock()
	for _, p := range lost {
		p.port.lose()
	}
	synctest.Wait() // nobody writes now
	for _, p := range lost {
		dir := c.folder(p.name)
		if err := os.CopyFS(dir, os.DirFS(p.dir)); err != nil {
			c.t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// bury lets what is left of processes that are lost end.
func (c *cluster) bury(lost ...*process) {
	for _, p := range lost {
		close(p.buried)
		p.tell()
		c.note(func() { p.closed = true })
		p.cancel()
		c.burials.Go(func() {
			<-p.ended
			p.close()
			if err := os.RemoveAll(p.dir); err != nil {
				c.t.Error(err)
			}
		})
	}
}

// abandon ends what a test that has failed has left.
func (c *cluster) abandon() {
	c.mu.Lock()
	if c.held != nil {
		close(c.held.release)
		c.held = nil
	}
	c.armed = nil
	var left []*process
	for _, name := range c.names {
		if p := c.processes[name]; p != nil && !p.closed {
			left = append(left, p)
		}
	}
	c.mu.Unlock()
	for _, p := range left {
		p.goOn()
		p.tell()
		if p.ended == nil {
			p.close()
			continue
		}
		c.note(func() { p.lost = true })
		p.port.lose()
		c.bury(p)
	}
	c.burials.Wait()
}

// all returns the processes, by name.
func (c *cluster) all() (all []*process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.names {
		all = append(all, c.processes[name])
	}
	return all
}

// driveAll starts all drivers.
func (c *cluster) driveAll() {
	for _, p := range c.all() {
		p.drive()
	}
}

// loseAll loses all processes at once and starts them again.
func (c *cluster) loseAll() {
	old := c.all()
	dirs := c.lose(old...)
	c.bury(old...)
	for i, dir := range dirs {
		c.open(c.names[i], dir, false)
	}
	c.driveAll()
}

// stopAll stops the drivers as planned, one after the other, and then the nodes, when they have heard the same.
func (c *cluster) stopAll() {
	c.t.Helper()
	for _, p := range c.all() {
		p.stop()
	}
	c.settle()
	for _, p := range c.all() {
		p.close()
	}
	c.burials.Wait()
}

// settle waits until all nodes have applied the same, and compares what they hold. Shows I9.
func (c *cluster) settle() {
	c.t.Helper()
	for deadline, calm := time.Now().Add(time.Minute), 0; ; {
		same, leads := true, false
		all := c.all()
		applied, last := make([]uint64, len(all)), make([]uint64, len(all))
		for i, p := range all {
			s := p.log.Status()
			applied[i], last[i] = s.Applied, s.Last
			same = same && applied[i] == applied[0] && last[i] == last[0]
			leads = leads || s.Role == "leader"
		}
		if calm++; !same || !leads {
			calm = 0
		}
		if calm > 20 {
			break
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("nodes have applied %v, want all the same\n%s", applied, c.describe())
		}
		<-time.After(10 * time.Millisecond)
	}
	var want [32]byte
	for i, p := range c.all() {
		state, err := p.log.State(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		if got := state.Digest(); i == 0 {
			want = got
		} else if got != want {
			c.t.Errorf("the state of %s has digest %x, that of d1 %x (I9)", p.name, got, want)
		}
	}
}

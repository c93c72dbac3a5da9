package failover

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// kinds are the ways to lose a leader.
var kinds = []string{
	"isolate",  // nothing gets to it or from it, and it goes on as long as it can
	"mute",     // nothing gets from it
	"deaf",     // nothing gets to it: what it sends is received, unanswered, and sent again
	"pause",    // it stands still, with its node, and goes on when others have led
	"unaware",  // it is isolated, and not told that its term is over before others have led
	"crash",    // its process is lost, and comes again later
	"resign",   // it stops as planned, and comes again
	"transfer", // its node hands over in the middle of what it does
	"forget",   // the next answer of the log gets lost
	"late",     // the next command gets to the log after the driver has given it up
}

// alone are those of a driver that is the only one. Nobody leads in its place.
var alone = []string{"crash", "crash", "resign", "forget", "late"}

// A strike is the loss of the leader at an operation of a step.
type strike struct {
	step, kind string
	skip       int  // operations of the step before it
	after      bool // the operation has had its effect

	p       *process // whom it met, and where; set before struck is closed
	point   string
	struck  chan struct{}
	release chan struct{}
}

// A tally counts what was done.
type tally struct {
	runs, losses, terms int
	commands, batches   int64
	of                  map[string]map[string]int // losses by step and kind
	points              map[string]bool           // where the leader was lost
	gaps                []time.Duration           // from each loss to the next committed batch
}

func newTally() *tally { return &tally{of: map[string]map[string]int{}, points: map[string]bool{}} }

const (
	eachRun = 8                // losses
	bounded = 15 * time.Second // of fake time, in which the next batch must be committed after a loss
)

// arm lets a strike meet the next driver that comes to its step.
func (c *cluster) arm(s *strike) {
	s.struck, s.release = make(chan struct{}), make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = s
}

// meet waits until a strike has met a driver, which it holds until release is called.
func (c *cluster) meet(s *strike) (release func()) {
	c.t.Helper()
	patience, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	select {
	case <-s.struck:
	case <-patience.Done():
		c.t.Fatalf("nobody comes to %s\n%s", s.step, c.describe())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = s
	return func() {
		c.mu.Lock()
		if c.held == s {
			c.held = nil
		}
		c.mu.Unlock()
		close(s.release)
	}
}

// isolate cuts off an address, both ways.
func (c *cluster) isolate(name string) {
	for _, other := range c.names {
		if other != name {
			c.fabric.sever([]string{name}, []string{other})
			c.fabric.sever([]string{other}, []string{name})
		}
	}
}

// strike loses the leader in the middle of an operation of a step, and waits until others, or it, have gone on.
func (c *cluster) strike(r *rand.Rand, s *strike, sum *tally) {
	c.t.Helper()
	c.arm(s)
	release := c.meet(s)
	p := s.p
	c.mu.Lock()
	stood := p.stands
	c.mu.Unlock()
	var others []string
	for _, name := range c.names {
		if name != p.name {
			others = append(others, name)
		}
	}
	minority := []string{p.name}
	if len(c.names) == 5 && r.IntN(2) == 0 {
		i := r.IntN(len(others))
		minority = append(minority, others[i])
		others = slices.Delete(others, i, i+1)
	}
	isolate := func() {
		c.fabric.sever(minority, others)
		c.fabric.sever(others, minority)
	}
	more := 1 + r.IntN(2)
	var gap time.Duration
	switch s.kind {
	case "isolate":
		isolate()
		release()
		gap = c.progress(more, bounded)
	case "mute":
		c.fabric.sever(minority, others)
		release()
		gap = c.progress(more, bounded)
	case "deaf":
		c.fabric.sever(others, minority)
		release()
		gap = c.progress(more, bounded)
	case "pause", "unaware":
		if s.kind == "unaware" || r.IntN(2) == 0 {
			p.keepFrom()
		}
		isolate()
		if s.kind == "pause" {
			p.standStill()
			release()
			gap = c.progress(more, bounded)
			if r.IntN(2) == 0 {
				c.fabric.heal()
			}
			p.goOn()
		} else {
			release()
			gap = c.progress(more, bounded)
		}
		synctest.Wait() // what it can do it has done
		p.tell()
	case "crash":
		c.crash(p, release, time.Duration(r.IntN(2000))*time.Millisecond, func() { gap = c.progress(more, bounded) })
	case "resign":
		p.cancel()
		release()
		<-p.ended
		if p.err != nil {
			c.t.Errorf("%s, which stops as planned, ends with %v", p.name, p.err)
		}
		p.close()
		if len(c.names) > 1 {
			gap = c.progress(more, bounded)
		}
		c.open(p.name, p.dir, false).drive()
		if len(c.names) == 1 {
			gap = c.progress(more, bounded)
		}
	case "transfer":
		ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
		if err := p.log.Transfer(ctx, ""); err != nil {
			c.t.Logf("%s does not hand over: %v", p.name, err)
		}
		cancel()
		release()
		gap = c.progress(more, bounded)
	case "forget":
		c.mu.Lock()
		p.forgetful = true
		c.mu.Unlock()
		release()
		gap = c.progress(more, bounded)
	case "late":
		c.mu.Lock()
		if p.late = untilNext; r.IntN(2) == 0 {
			p.late = time.Duration(1+r.IntN(300)) * time.Millisecond
		}
		c.mu.Unlock()
		release()
		gap = c.progress(more, bounded)
	default:
		c.t.Fatal(s.kind)
	}
	c.fabric.heal()
	if s.kind != "crash" && s.kind != "resign" {
		c.until(bounded, fmt.Sprint(p.name, ", whose term has ended, stands by again"), func() bool { return p.stands > stood })
	}
	sum.losses++
	sum.points[s.point+fmt.Sprint(" ", s.after)] = true
	if sum.of[s.step] == nil {
		sum.of[s.step] = map[string]int{}
	}
	sum.of[s.step][s.kind]++
	sum.gaps = append(sum.gaps, gap)
}

// crash loses a process, and starts it again after a while, in which others go on, where there are some.
func (c *cluster) crash(p *process, release func(), after time.Duration, goOn func()) {
	c.t.Helper()
	dir := c.lose(p)[0]
	release()
	c.bury(p)
	again := func() { c.open(p.name, dir, false).drive() }
	if len(c.names) == 1 {
		<-time.After(after)
		again()
		goOn()
		return
	}
	goOn()
	<-time.After(after)
	again()
}

// The leader is lost inside each step of a batch, in each way, and another goes on with the same batch; at the end all processes are lost at
// once. Shows I1 to I7, I9 to I11, I13 and I14.
func TestLeaderLossInsideEachStep_Toy1(t *testing.T) {
	sum := newTally()
	opened := openFiles(t)
	for first := 0; first < *losses; first += eachRun {
		runSeed := *seed + uint64(sum.runs)
		n := []int{3, 5, 3, 1}[runSeed%4]
		t.Run(fmt.Sprintf("seed=%d/drivers=%d", runSeed, n), func(t *testing.T) { losing(t, runSeed, n, min(eachRun, *losses-first), sum) })
		sum.runs++
		if t.Failed() {
			t.Fatalf("failed with -failover.seed %d -failover.losses %d", runSeed, eachRun)
		}
	}
	if now := openFiles(t); now > opened {
		t.Errorf("%d files are open, %d were before (I11)", now, opened)
	}
	sum.print(t)
}

// losing is a run: a cluster that loses its leader some times.
func losing(t *testing.T, seed uint64, n, times int, sum *tally) {
	dir := temporary(t)
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed, 11))
		c := newCluster(t, dir, n, raftlog.Options{Timeouts: raftlog.Fast(), SnapshotEvery: 64, Trailing: 1 << 20}, time.Duration(r.IntN(3))*time.Millisecond)
		c.driveAll()
		c.progress(2, bounded)
		order := r.Perm(len(steps))
		for i := range times {
			s := &strike{step: steps[order[i%len(steps)]], skip: r.IntN(4), after: r.IntN(2) == 0}
			if n == 1 {
				s.kind = alone[r.IntN(len(alone))]
			} else {
				s.kind = kinds[(uint64(order[i%len(steps)])+seed-seed/4)%uint64(len(kinds))]
			}
			c.strike(r, s, sum)
			if testing.Verbose() {
				t.Logf("%s in %s at %q of %s, after it %t: %v", s.kind, s.step, s.point, s.p.name, s.after, sum.gaps[len(sum.gaps)-1])
			}
		}
		c.loseAll() // I14
		c.progress(3, bounded)
		c.stopAll()
		h := c.check()
		sum.terms += c.terms
		sum.commands += int64(len(h.commands))
		app := h.state.App("app")
		sum.batches += app.Next
	})
	left, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("%d files are left in the folder for those that do not fit in memory (I11)", len(left))
	}
}

// temporary returns a folder, in memory where the system has it.
func temporary(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "leat-failover-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// openFiles returns how many files the process has open.
func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Logf("open files are not counted: %v", err)
		return 0
	}
	return len(entries)
}

// print prints the counts.
func (sum *tally) print(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs, %d losses of the leader, at %d places, %d terms, %d batches, %d commands\n", sum.runs, sum.losses, len(sum.points), sum.terms, sum.batches, sum.commands)
	fmt.Fprintf(&b, "%-6s", "")
	for _, kind := range kinds {
		fmt.Fprintf(&b, "%9s", kind)
	}
	b.WriteByte('\n')
	for _, step := range steps {
		fmt.Fprintf(&b, "%-6s", step)
		for _, kind := range kinds {
			fmt.Fprintf(&b, "%9d", sum.of[step][kind])
		}
		b.WriteByte('\n')
	}
	if n := len(sum.gaps); n > 0 {
		slices.Sort(sum.gaps)
		fmt.Fprintf(&b, "from a loss to the next committed batch, in fake time: p50 %v, p99 %v, max %v", sum.gaps[n/2], sum.gaps[n*99/100], sum.gaps[n-1])
	}
	t.Log(b.String())
}

package streamingcontext_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

var (
	simulations = flag.Int("sim.seeds", 200, "how many seeds the simulation of crashes runs")
	firstSeed   = flag.Uint64("sim.seed", 1, "the first of them")
)

// simulation is one seed: processes that meet faults at random operations, one after the other and sometimes two at once, until the
// batches are done.
type simulation struct {
	t   *testing.T
	w   *world
	rng *rand.Rand
	dir string

	mu     sync.Mutex     // guards rng, kinds, total and trace while processes run
	kinds  map[string]int // faults by operation and kind
	total  int
	trace  []string
	now    int64
	asleep []sleeper
}

// sleeper is a process that stands still, and how it is stopped.
type sleeper struct {
	p    *process
	stop func() error
}

// Sizes of a simulation.
const (
	simBatches = 24
	simFaults  = 60 // so many, and then none
	simRecords = 5*simBatches - 12
)

// plan chooses what happens to an operation.
func (s *simulation) plan(_ int, name string) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := none
	met := name == "stage" || name == "seal" || name == "commit" || name == "clean" // a process goes on when one fails once
	switch n := s.rng.IntN(100); {
	case s.total >= simFaults:
	case n < 4:
		f = dieBefore
	case n < 8:
		f = dieAfter
	case n < 20 && met:
		f = fail
	case n < 32 && met:
		f = failAfter
	case n < 34 && len(s.asleep) < 2:
		f = pause
	}
	if f != none {
		s.total++
		s.kinds[fmt.Sprintf("%s %s", name, [...]string{"", "dies before", "dies after", "fails", "seems to fail", "stands still"}[f])]++
	}
	s.trace = append(s.trace, fmt.Sprint(name, f))
	return f
}

// toss is true half of the time. A process that has died may still be asking for its faults.
func (s *simulation) toss() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(2) == 0
}

// run lets processes live until all batches are done.
func (s *simulation) run() error {
	const until = simBatches * 1000
	for life := range 500 {
		p := s.w.process(s.plan)
		clock, stop, err := p.live(s.t.Context(), s.dir, s.now, until)
		s.now = max(s.now, clock.Now())
		if errors.Is(err, errPaused) {
			s.mu.Lock()
			s.asleep = append(s.asleep, sleeper{p, stop})
			s.mu.Unlock()
			continue // another one leads now
		}
		if stopped := stop(); stopped != nil {
			return stopped
		}
		if err == nil || s.toss() {
			if err := s.wake(); err != nil { // what they do now must not count
				return err
			}
		}
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, errDied) && !strings.Contains(err.Error(), "fails"):
			return fmt.Errorf("process %d: %w", life, err)
		}
	}
	return errors.New("five hundred processes were not enough")
}

// wake lets the processes that stand still go on, and stops them.
func (s *simulation) wake() error {
	for _, a := range s.asleep {
		a.p.wake()
		synctest.Wait() // it does what it had in hand
		if err := a.stop(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asleep = nil
	return nil
}

// simulate runs one seed and returns what is wrong with it.
func simulate(t *testing.T, seed uint64, bug string, want map[int64][]string) (wrong string, s *simulation) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simRecords)
		w.bug = bug
		s = &simulation{t: t, w: w, rng: rand.New(rand.NewPCG(seed, 1)), dir: memoryFolder(t), kinds: map[string]int{}}
		err := errors.Join(s.run(), s.wake())
		w.mu.Lock() // a task that was given up may still be at work
		defer w.mu.Unlock()
		switch {
		case err != nil:
			wrong = err.Error()
		case len(w.breaches) > 0:
			wrong = strings.Join(w.breaches, "\n")
		default:
			wrong = cmp.Diff(w.shown, want)
		}
	})
	return wrong, s
}

// memoryFolder returns a folder on a file system in memory where there is one: thousands of processes flush often.
func memoryFolder(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "leat-simulation-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// undisturbed returns what the sink shows when nothing happens.
func undisturbed(t *testing.T) (shown map[int64][]string) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simRecords)
		p := w.process(func(int, string) fault { return none })
		_, stop, err := p.live(t.Context(), memoryFolder(t), 0, simBatches*1000)
		if err := errors.Join(err, stop()); err != nil {
			t.Fatal(err)
		}
		shown = w.shown
	})
	return shown
}

// TestSimulatedCrashes lets programs die, fail, stand still and wake up at random, many times each, and compares what the sink
// shows with an undisturbed run. The goroutines of a process are not put in an order, so a seed that fails may take several runs to
// fail again.
func TestSimulatedCrashes(t *testing.T) {
	want := undisturbed(t)
	kinds, faults, lives := map[string]int{}, 0, 0
	seeds := *simulations
	if testing.Short() {
		seeds = min(seeds, 50)
	}
	for i := range seeds {
		seed := *firstSeed + uint64(i)
		wrong, s := simulate(t, seed, "", want)
		if wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
		for kind, n := range s.kinds {
			kinds[kind] += n
		}
		faults += s.total
		for _, op := range s.trace {
			if strings.HasPrefix(op, "lead") {
				lives++
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%6d  %s", kinds[kind], kind)
	}
	t.Logf("%d seeds, %d faults of %d kinds, %d processes", seeds, faults, len(kinds), lives)
	if seeds >= 100 && (faults < 50*seeds || len(kinds) < 25) {
		t.Errorf("%d faults of %d kinds in %d seeds: want 50 a seed, and 25 kinds", faults, len(kinds), seeds)
	}
}

// TestPlantedBugs shows that the simulation finds what it is for.
func TestPlantedBugs(t *testing.T) {
	want := undisturbed(t)
	for _, bug := range []string{"no fence", "other input", "no memory", "twice", "lost batch"} {
		t.Run(bug, func(t *testing.T) {
			for seed := range uint64(40) {
				if wrong, _ := simulate(t, seed, bug, want); wrong != "" {
					t.Logf("found with seed %d", seed)
					return
				}
			}
			t.Error("not found in 40 seeds")
		})
	}
}

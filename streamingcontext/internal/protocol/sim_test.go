package protocol_test

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

var (
	simSeeds = flag.Int("sim.seeds", 500, "how many seeds the simulation runs")
	simSeed  = flag.Uint64("sim.seed", 1, "the first of them")
	simTrace = flag.Bool("sim.trace", false, "print the tail of the first seed's trace")
)

func simulate(seed uint64, bug string) *simulation {
	s := newSimulation(seed, bug)
	s.run()
	return s
}

// TestSimulation runs drivers against a log, sinks, files and clocks that fail, and checks all that must hold after every step. A seed
// that fails does so again: it prints itself and the last lines of its trace.
func TestSimulation(t *testing.T) {
	began := time.Now()
	faults, points := map[string]int{}, map[protocol.Point][5]int{}
	total, least, lines, full := 0, 1<<30, 0, 0
	for i := range *simSeeds {
		seed := *simSeed + uint64(i)
		s := simulate(seed, "")
		if *simTrace && i == 0 {
			t.Logf("seed %d:\n%s", seed, strings.Join(s.w.tail, "\n"))
		}
		if len(s.w.breaches) > 0 {
			t.Errorf("seed %d:\n%s\n\n%s", seed, strings.Join(s.w.breaches, "\n"), strings.Join(s.w.tail, "\n"))
			return
		}
		if seed%100 == 0 {
			if again := simulate(seed, ""); again.w.hash.Sum64() != s.w.hash.Sum64() {
				t.Fatalf("seed %d: two runs give different traces", seed)
			}
		}
		for kind, n := range s.faults {
			faults[kind] += n
		}
		for p, n := range s.points {
			all := points[p]
			for i := range n {
				all[i] += n[i]
			}
			points[p] = all
		}
		total += s.total
		least = min(least, s.total)
		lines += s.w.lines
		if s.full {
			full++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(faults)) {
		t.Logf("%7d  %s", faults[kind], kind)
	}
	t.Logf("crash points: met, died before, died after, and of both in recovery, in recovery of recovery")
	for _, p := range protocol.Points() {
		n := points[p]
		t.Logf("%8d %6d %6d %6d %6d  %s", n[0], n[1], n[2], n[3], n[4], p)
		inRecovery := p <= protocol.RunAgain
		if *simSeeds >= 500 && (n[1] == 0 || n[2] == 0 || inRecovery && (n[3] == 0 || n[4] == 0)) {
			t.Errorf("nobody has died before and after %s: %v", p, n)
		}
	}
	t.Logf("%d seeds, %d faults of %d kinds, at least %d a seed, %d steps in the traces, window full in %d seeds, %v",
		*simSeeds, total, len(faults), least, lines, full, time.Since(began).Round(time.Millisecond))
	if *simSeeds >= 100 && (least < 50 || len(faults) < 25) {
		t.Errorf("%d faults in one seed, %d kinds: want 50 and 25", least, len(faults))
	}
}

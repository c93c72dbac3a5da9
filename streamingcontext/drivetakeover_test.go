package streamingcontext_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/memlog"
)

var (
	failovers     = flag.Int("failover.seeds", 50, "how many seeds of random failovers are run")
	firstFailover = flag.Uint64("failover.seed", 1, "the first of them")
)

// pointsOfABatch are the points that a driver comes to in the steps P0 to P7 of a batch, and where it begins a term.
var pointsOfABatch = map[string]string{
	"plan": "P0", "log begin": "P1", "sink part": "P2", "store put state": "P2", "sink seal": "P3", "log prepared": "P4", "sink commit": "P5",
	"log committed": "P6", "sink clean": "P7", "store put checkpoints": "P7", "log checkpointed": "P7", "store remove": "P7",
	"log leader start": "term", "sink last": "term", "log application": "term",
}

// The leader is deposed, or deposed without being told, or stands still, before and after each thing that it does; another driver goes on with
// the same batch. Every record is in one batch, every row is there once, and batches are dense.
// Shows I1 to I7.
func TestADriverIsLostAtEveryPoint_I1_I2_I3_I4_I5_I6_I7(t *testing.T) {
	const batches = 12
	want, points := ledAlone(t, batches)
	run := 0
	for _, point := range slices.Sorted(maps.Keys(pointsOfABatch)) {
		if points[point] == 0 {
			t.Errorf("no driver comes to %q", point)
		}
		for _, nth := range []int{1, min(9, points[point]/2+1)} {
			for _, what := range []string{"depose", "hush", "pause"} {
				for _, after := range []bool{false, true} {
					if run++; nth == 1 && points[point] == 1 && run%2 == 0 {
						continue // twice the same
					}
					n := 2 + run%2
					t.Run(fmt.Sprintf("%s/%s/%d/%s/after=%t", pointsOfABatch[point], point, nth, what, after), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							w := newDrivers(t, n)
							var struck *driver
							w.strikes = func(d *driver, at string, nr int) *strike {
								if at != point || nr != nth || struck != nil {
									return nil
								}
								struck = d
								return &strike{what: what, after: after, next: "b", long: 4 * time.Second}
							}
							w.startAll()
							w.await(batches - 1)
							if struck == nil {
								t.Fatal("nothing has befallen a driver")
							}
							if point != "log leader start" || after { // else it waits to lead, as before
								struck.standsBy(2)
							}
							w.stopAll()
							w.check(batches, want)
							if len(w.epochs) < 2 && (point != "log leader start" || after) {
								t.Errorf("terms %q", w.epochs)
							}
						})
					})
				}
			}
		}
	}
}

// What befalls drivers, and commands, is chosen by a seed.
func TestRandomFailovers_I1_I2_I3_I4_I5_I6_I7(t *testing.T) {
	const batches = 12
	want, _ := ledAlone(t, batches)
	counts, terms, strikes := counted{}, 0, 0
	for seed := *firstFailover; seed < *firstFailover+uint64(*failovers); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 7))
				w := newDrivers(t, 2+int(seed%2))
				faults := memlog.RandomPlan(rand.New(rand.NewPCG(seed, 8)), 3, 700*time.Millisecond)
				w.faults = func(c memlog.GroupCall) memlog.GroupFault {
					f := faults(c)
					w.mu.Lock()
					defer w.mu.Unlock()
					counts.faults(f)
					return f
				}
				names := slices.Sorted(maps.Keys(w.nodes))
				left := 1 + r.IntN(8)
				w.strikes = func(d *driver, point string, nth int) *strike {
					if left == 0 || r.IntN(40) != 0 {
						return nil
					}
					left--
					strikes++
					ms := func(n int64) time.Duration { return time.Duration(1+r.Int64N(n)) * time.Millisecond }
					s := &strike{what: []string{"depose", "hush", "pause"}[r.IntN(3)], after: r.IntN(2) == 0, long: ms(6000), later: ms(3000), last: names[r.IntN(len(names))]}
					if r.IntN(3) != 0 {
						s.next = names[r.IntN(len(names))]
					}
					counts[fmt.Sprintf("leader lost: %s in %s", s.what, cmp.Or(pointsOfABatch[point], point))]++
					return s
				}
				w.startAll()
				w.await(batches - 1)
				w.stopAll()
				w.check(batches, want)
				terms += len(w.epochs)
				for _, cmd := range w.log {
					counts["commands: "+cmd.Kind.String()]++
				}
				if t.Failed() {
					t.Logf("terms %q", w.epochs)
				}
			})
		})
	}
	t.Logf("%d seeds from %d on: %d leaders lost, %d terms, %d batches, each committed once\n%s", *failovers, *firstFailover, strikes, terms,
		counts["commands: committed"], counts)
	if terms < 2**failovers {
		t.Errorf("%d terms", terms)
	}
}

// counted is what was done, by kind.
type counted map[string]int

// faults counts what befalls a call of the log.
func (c counted) faults(f memlog.GroupFault) {
	if f.Outcome != memlog.Answered {
		c[fmt.Sprint("answer of the log: ", f.Outcome)]++
	}
	if f.Delay > 0 {
		c["answer of the log: slow"]++
	}
}

// String returns a line for each kind.
func (c counted) String() string {
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "%8d  %s\n", c[kind], kind)
	}
	return b.String()
}

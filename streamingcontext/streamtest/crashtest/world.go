package crashtest

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
)

// A World is what outlives the processes of a program: the driver log, a disk, inputs and outputs. Setup takes from it what must not
// be lost with a process. All that it gives belongs to the process that setup is called in, and no longer works when that has died.
type World struct {
	program Program
	dir     string // of the context

	mu        sync.Mutex // guards the fields below
	log       *memlog.Log
	undo      []byte // the log's state without the Committed that may get lost; nil where nothing may
	disk      *disk.Disk
	process   *process // that runs
	kept      map[string]any
	begun     []int64 // times of the batches that were begun, by id
	inputs    map[string]*inputAccount
	outputs   map[string]*account
	names     []string // of outputs
	effects   map[string]map[int64]int
	receivers []*sender
	expected  []string // points that must be met
	breaches  []breach
}

// A breach is a promise that broke, and how.
type breach struct {
	promise Promise
	text    string
}

func newWorld(p Program, dir string) (*World, error) {
	log, err := memlog.New(memlog.Options{Node: "crashtest"})
	if err != nil {
		return nil, err
	}
	return &World{program: p, dir: dir, log: log, disk: disk.New(), kept: map[string]any{}, inputs: map[string]*inputAccount{},
		outputs: map[string]*account{}, effects: map[string]map[int64]int{}}, nil
}

// start returns the next process.
func (w *World) start(n int, s shot) *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.process = &process{w: w, n: n, shot: s, log: w.log, disk: w.disk, counts: map[string]int{}}
	return w.process
}

// cut ends the machine of the process that has ended: what was not synced is lost.
func (w *World) cut(loss disk.Loss, seed uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disk = w.disk.After(loss, seed)
	if w.undo == nil || loss == disk.Nothing {
		return nil
	}
	log, err := memlog.New(memlog.Options{Node: "crashtest", Snapshot: w.undo})
	if err != nil {
		return err
	}
	w.log, w.undo = log, nil
	return nil
}

func (w *World) current() *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.process
}

func (w *World) breach(p Promise, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breachHeld(p, format, args...)
}

// breachHeld is breach with mu held.
func (w *World) breachHeld(p Promise, format string, args ...any) {
	w.breaches = append(w.breaches, breach{p, fmt.Sprintf(format, args...)})
}

// expect says that points must be met.
func (w *World) expect(points ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, point := range points {
		if !slices.Contains(w.expected, point) {
			w.expected = append(w.expected, point)
		}
	}
}

// Keep returns the value of a name, which create made the first time that any process asked for it: for sources and sinks of
// the program's own that outlive processes. A name has one type.
func Keep[T any](w *World, name string, create func() T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.kept[name].(T)
	if !ok {
		v = create()
		w.kept[name] = v
	}
	return v
}

// Steps are the points of one process.
type Steps struct{ p *process }

// Steps returns the points of the process that setup is called in: for operations on what outlives processes that the kit does not
// see.
func (w *World) Steps() Steps { return Steps{w.current()} }

// Do runs effect as a point. name must be the same each time that the program comes there.
//
// Errors: of effect; ErrInjected and ErrDied, joined with that of effect where it has run.
func (s Steps) Do(name string, effect func() error) error { return s.p.step(name, effect) }

// Effects are what an output does that is not undone when its batch runs again, as one of ForeachRDD.
type Effects struct {
	p    *process
	name string
}

// Effects returns the effects of an output. The kit counts them: each that the undisturbed run has must happen at least once, and
// Report says how often one happened again.
func (w *World) Effects(name string) Effects {
	w.expect("effect " + name)
	return Effects{w.current(), name}
}

// Do runs the effect of batch t. It is a point, "effect" and the name.
//
// Errors: as Steps.Do.
func (e Effects) Do(t dstream.Time, effect func() error) error {
	return e.p.step("effect "+e.name, func() error {
		if err := effect(); err != nil {
			return err
		}
		w := e.p.w
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.effects[e.name] == nil {
			w.effects[e.name] = map[int64]int{}
		}
		w.effects[e.name][int64(t)]++
		return nil
	})
}

var (
	randomRuns = regexp.MustCompile(`[A-Z2-7]{20,}`) // as rand.Text makes them
	hexRuns    = regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f]{5,}`)
	digitRuns  = regexp.MustCompile(`[0-9]+`)
)

// plain returns a name without what differs from one run to the next.
func plain(name string) string {
	return digitRuns.ReplaceAllString(hexRuns.ReplaceAllString(randomRuns.ReplaceAllString(name, "#"), "#"), "#")
}

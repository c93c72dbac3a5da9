package protocol_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// Sizes of a simulation.
const (
	simBatches = 24
	simFaults  = 60 // so many, and then none
	simSteps   = 30_000
)

// A simulation is one seed: drivers on a world, and a scheduler that picks what happens next. Everything follows from the seed.
type simulation struct {
	w       *world
	seed    uint64
	drivers []*driver

	durable     bool
	setAside    bool
	repeats     bool
	maxManifest int
	period      int64
	zero        int64
	stalls      bool  // a sink may hang until the window of open batches is full
	hangs       int64 // until when one does

	steps    int
	total    int
	faults   map[string]int
	points   map[protocol.Point][5]int // met, died before, died after, died in recovery, died in recovery of recovery
	healed   bool
	healedAt int64
	target   int64
	full     bool // the window has been full
}

func newSimulation(seed uint64, bug string) *simulation {
	w := newWorld(seed, bug)
	s := &simulation{w: w, seed: seed, durable: seed%8 != 7, setAside: seed%3 == 1, repeats: seed%2 == 0,
		maxManifest: []int{60, 160, 0}[w.rng.IntN(3)], period: 3 + w.rng.Int64N(5), zero: w.now, stalls: seed%16 == 3, target: simBatches,
		faults: map[string]int{}, points: map[protocol.Point][5]int{}}
	w.remember = s.durable && s.repeats
	for n := range 1 + w.rng.IntN(3) {
		s.drivers = append(s.drivers, &driver{s: s, n: n})
	}
	return s
}

// run lets everything happen until all batches are done, then kills all drivers at once and goes on for some batches.
func (s *simulation) run() {
	for i := 0; i < simSteps && !s.enough(); i++ {
		s.step()
		if s.healed && s.done() {
			break
		}
	}
	w := s.w
	if s.enough() {
		return
	}
	if !s.healed || !s.done() {
		w.breach(INV15, "%d batches of %d after all steps", w.app().Oldest(), s.target)
		return
	}
	w.late = nil
	for _, d := range s.drivers {
		d.stop(down)
	}
	if w.bug == "files lost" {
		clear(w.files)
		clear(w.blobs)
	}
	s.target = w.app().Next + 8
	for i := 0; i < simSteps && !s.done() && !s.enough(); i++ {
		s.step()
	}
	if s.enough() {
		return
	}
	if !s.done() {
		w.breach(I14, "%d batches of %d", w.app().Oldest(), s.target)
		return
	}
	w.atEnd(s)
}

// enough reports whether checkers have found enough: where no bug is planted the first breach is what the trace ends with.
func (s *simulation) enough() bool {
	return s.w.bug == "" && len(s.w.breaches) > 0 || len(s.w.breaches) >= 10
}

// done reports whether all batches are.
func (s *simulation) done() bool {
	app := s.w.app()
	if app.Next < s.target || len(app.Open) > 0 {
		return false
	}
	return !slices.ContainsFunc(s.drivers, func(d *driver) bool { // whoever believes that it leads has nothing to learn it from
		return d.mode != down && d.mode != ended && d.epoch == s.w.state.Epoch && (d.decide != nil || d.plan != nil || len(d.again) > 0 || len(d.queue) > 0 || d.mode != runs)
	})
}

// event is something that can happen.
type event struct {
	d    *driver
	what string
	i    int
}

// events returns all that can happen now, in a fixed order.
func (s *simulation) events() (all []event) {
	w := s.w
	led := slices.ContainsFunc(s.drivers, func(d *driver) bool {
		return d.mode != down && d.mode != ended && !d.paused && d.epoch == w.state.Epoch
	})
	for _, d := range s.drivers {
		add := func(what string, i int) { all = append(all, event{d, what, i}) }
		switch {
		case d.paused:
			if s.healed || s.steps >= d.wakeAt {
				add("wake", 0)
			}
			continue
		case d.mode == ended:
			add("gone", 0)
		case d.mode == down:
			if d.startAt <= w.now && !led {
				add("lead", 0)
			}
			continue
		case d.lostAt > 0 && d.lostAt <= w.now:
			add("told that it does not lead", 0)
		}
		if d.mode == leads {
			add("read", 0)
			continue
		}
		if d.decide != nil && d.decide.ready <= w.now {
			add("decide", 0)
		}
		if d.mode == recover0 {
			continue
		}
		if d.mode == ended {
			// Nothing is planned.
		} else if len(d.again) > 0 {
			add("run again", 0)
		} else if d.plan == nil && d.next <= w.now && d.core.Room() && w.app().Next < s.target+80 && (!s.healed || w.app().Next < s.target) {
			add("plan", 0)
		}
		if !d.core.Room() && len(d.core.Open()) >= driverlog.Window {
			s.full = true
		}
		if d.plan != nil && d.plan.ready <= w.now {
			add("begin", 0)
		}
		for i, r := range d.queue {
			if r.over() {
				if d.decide == nil && (d.plan == nil || !d.plan.whole) {
					add("jobs ended", i)
				}
				continue
			}
			if i < 3 {
				add("job", i)
			}
		}
	}
	return all
}

// step lets one thing happen.
func (s *simulation) step() {
	w := s.w
	s.steps++
	if !s.healed && s.total >= simFaults && s.hangs <= w.now {
		s.healed, s.healedAt = true, w.now
		s.target = max(s.target, w.app().Next+2)
		w.tracef("no more faults")
	}
	for len(w.late) > 0 && w.late[0].at <= w.now {
		l := w.late[0]
		w.late = w.late[1:]
		w.tracef("late: %s of batch %d", l.cmds[0].Kind, l.cmds[0].Batch)
		_ = w.propose(l.cmds)
	}
	s.disturb()
	s.staleSweep()
	before := w.app().Oldest()
	all := s.events()
	if len(all) == 0 || w.rng.IntN(10) == 0 {
		w.now += 1 + w.rng.Int64N(400)
		if len(all) == 0 {
			return
		}
	}
	e := all[w.rng.IntN(len(all))]
	if w.bug == "order of a map" {
		for output := range w.sinks {
			w.tracef("output %s", output)
		}
	}
	e.d.do(e)
	if w.app().Oldest() > before && s.healed {
		s.healedAt = w.now
	}
	if s.healed && w.now-s.healedAt > 30_000+int64(len(w.app().Open))*1000 && w.app().Oldest() < s.target {
		w.breach(INV15, "no batch is committed for %d ms", w.now-s.healedAt)
		s.healedAt = w.now
	}
}

// staleSweep is a planted bug: a driver that has stood still sweeps while another one writes a checkpoint.
func (s *simulation) staleSweep() {
	if s.w.bug != "stale sweep" {
		return
	}
	for _, d := range s.drivers {
		writes := slices.ContainsFunc(s.drivers, func(o *driver) bool {
			return o.epoch > d.epoch && o.decide != nil && o.decide.Point == protocol.P7Checkpointed
		})
		if d.paused && d.decide != nil && d.decide.Do == protocol.Sweep && writes {
			s.w.sweep(d.epoch)
		}
	}
}

// disturb lets faults happen that no operation is needed for.
func (s *simulation) disturb() {
	w := s.w
	if s.healed || w.rng.IntN(60) > 0 || s.hangs > w.now {
		return
	}
	d := s.drivers[w.rng.IntN(len(s.drivers))]
	switch w.rng.IntN(11) {
	case 0:
		w.now += 10_000
		s.fault("clock: forward")
	case 1:
		w.now -= 4_000
		s.fault("clock: back")
	case 2:
		for _, d := range s.drivers {
			d.stop(down)
		}
		w.now += 15_000
		s.fault("all drivers are down for long")
	case 3:
		if d.mode != down && !d.paused {
			s.fault(d.where() + "stands still")
			d.stand()
		}
	case 4:
		if d.mode == down {
			s.fault("a second driver leads")
			d.lead()
		}
	case 5:
		if d.mode != down && !d.paused {
			s.fault(d.where() + "is killed")
			d.stop(down)
		}
	case 6:
		if d.mode != down {
			s.fault("told twice that it does not lead")
			d.lostAt = w.now
		}
	case 7:
		// Another node led for a moment and went.
		s.fault("leadership is lost")
		_ = w.apply(driverlog.Command{Kind: driverlog.LeaderStart, Node: "ghost"})
	case 9, 10:
		if n := len(w.undo); n > 0 {
			for _, d := range s.drivers {
				if d.mode != down {
					w.temps = append(w.temps, d.epoch)
				}
				d.stop(down)
			}
			s.fault("power is lost, and with it what the log had not flushed")
			w.losePower()
		}
	case 8:
		if i := slices.IndexFunc(d.queue, func(r *run) bool { return !r.over() && !r.Repeated }); i >= 0 && d.mode == runs && !d.paused && s.setAside {
			s.fault("generation fails")
			r := d.queue[i]
			if slices.ContainsFunc(r.jobs, func(j job) bool { return j.done || j.tries > 0 }) {
				return
			}
			r.jobs, r.notMade = nil, errors.New("not made")
		}
	}
}

// where says what a driver is at.
func (d *driver) where() string {
	switch {
	case !d.recovers():
		return ""
	case d.recoveries == 0:
		return "in recovery: "
	case d.recoveries == 1:
		return "in recovery of recovery: "
	}
	return "in recovery, for the third time or more: "
}

// fault counts one.
func (s *simulation) fault(kind string) {
	s.total++
	s.faults[kind]++
	s.w.tracef("fault: %s", kind)
}

// kinds of faults of an operation.
type outcome int

const (
	goes outcome = iota
	dieBefore
	dieAfter
	fails
	failsAfter
	comesLate
	slow
	still
)

// meets chooses what happens at a point.
func (s *simulation) meets(d *driver, p protocol.Point, can ...outcome) outcome {
	w := s.w
	at := s.points[p]
	at[0]++
	s.points[p] = at
	if s.healed || w.rng.IntN(6) > 0 || s.hangs > w.now {
		return goes
	}
	o := goes
	switch n := w.rng.IntN(10); {
	case n < 1:
		o = dieBefore
	case n < 2:
		o = dieAfter
	case n < 9 && len(can) > 0:
		o = can[w.rng.IntN(len(can))]
	case n == 9:
		o = still
	}
	if o != goes {
		s.fault(fmt.Sprintf("%s: %s", p, [...]string{"", "dies before", "dies after", "fails", "seems to fail", "comes late", "is slow", "stands still"}[o]))
	}
	if o == dieBefore || o == dieAfter {
		at[o]++
		if d.recovers() || p <= protocol.Recover {
			at[3+min(d.recoveries, 1)]++
		}
		s.points[p] = at
	}
	return o
}

package protocol_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// mode is what a driver is at.
type mode int

const (
	down     mode = iota
	leads         // its leader start is in the log
	recover0      // it does what Recover says
	runs
	ended // by an error; the process is still there until it starts again
)

// A driver is a process: a core, and what is lost with it.
type driver struct {
	s *simulation
	n int

	mode  mode
	lives int
	// recoveries is how often it has died in recovery, one time after the other.
	recoveries int
	startAt    int64
	paused     bool
	wakeAt     int    // the step from which it may go on
	lostAt     int64  // when it is told that it does not lead any more, 0 if it is not
	excuse     string // what may end it

	core    *protocol.Core
	epoch   uint64
	decide  *op // under way
	plan    *op
	again   []protocol.Batch // to be queued
	queue   []*run
	next    int64 // time of the next batch
	taken   int64 // of the source
	spans   map[int64]span
	times   map[int64]int64
	totals  map[int64]int64
	changed bool
}

// op is an action that is under way.
type op struct {
	protocol.Action
	ready int64 // when it may have its effect
	slow  bool  // it has waited once
	whole bool  // it is in the chain of decisions, which the plan has taken
}

// run is a batch whose jobs run.
type run struct {
	protocol.Batch
	jobs     []job
	staged   []protocol.Staged
	failures []protocol.OutputFailure
	notMade  error
}

type job struct {
	output int
	tries  int
	done   bool
}

var outputNames = []string{"plain", "a", "b"}

// stop takes all from the driver that is volatile.
func (d *driver) stop(m mode) {
	w := d.s.w
	delete(w.leading, d.epoch)
	recoveries := 0
	switch {
	case d.recovers():
		recoveries = d.recoveries + 1
	case d.mode == down:
		recoveries = d.recoveries
	}
	*d = driver{s: d.s, n: d.n, mode: m, lives: d.lives, recoveries: recoveries, startAt: w.now + w.rng.Int64N(2000)}
}

// stand makes the driver stand still, for a moment or until others have gone far.
func (d *driver) stand() {
	w := d.s.w
	d.paused = true
	d.wakeAt = d.s.steps + 1 + w.rng.IntN([]int{20, 600}[w.rng.IntN(2)])
}

// recovers reports whether the driver is in recovery.
func (d *driver) recovers() bool {
	return d.mode == leads || d.mode == recover0 || d.mode == runs && len(d.again) > 0
}

// end is called when the core or a fault ends the driver.
func (d *driver) end(err error) {
	w := d.s.w
	w.tracef("driver %d ends: %v", d.n, err)
	if d.excuse == "" {
		w.breach(INV18, "driver %d ends for no reason: %v", d.n, err)
	}
	if !d.s.healed && d.core != nil && d.core.Over() != nil && w.rng.IntN(2) == 0 {
		d.mode = ended // what else it has in hand goes on for a moment
		return
	}
	d.stop(down)
}

// mustEnd checks that nothing is to be done once the term has ended.
func (d *driver) mustEnd(a protocol.Action) {
	if a.Do != protocol.End {
		d.s.w.breach(INV18, "driver %d is to %s after its term has ended", d.n, a.Do)
	}
	d.stop(down)
}

// lead opens a term.
func (d *driver) lead() {
	w := d.s.w
	d.lives++
	if err := w.apply(driverlog.Command{Kind: driverlog.LeaderStart, Node: fmt.Sprint("n", d.n)}); err != nil {
		w.breach(INV18, "lead: %v", err)
		return
	}
	d.epoch, d.mode = w.state.Epoch, leads
	w.leading[d.epoch] = d
	for _, other := range d.s.drivers { // is told sooner or later, or never
		if other != d && other.mode != down && w.rng.IntN(3) > 0 {
			other.lostAt = w.now + w.rng.Int64N(4000)
		}
	}
	w.tracef("driver %d leads epoch %d", d.n, d.epoch)
}

// read takes over what the log knows.
func (d *driver) read() {
	w, s := d.s.w, d.s
	state := w.state.Clone()
	app := state.App(appName)
	d.core = protocol.New(protocol.Options{App: appName, Epoch: d.epoch, SetAside: s.setAside, Repeats: s.repeats, MaxManifest: s.maxManifest})
	d.spans, d.times, d.totals = map[int64]span{}, map[int64]int64{}, map[int64]int64{-1: 0}
	held := int64(-1)
	goesOn := s.durable && app.Registered
	if goesOn && app.Checkpoint.Index > 0 {
		file, ok := w.files[string(app.Checkpoint.Manifest)]
		if !ok {
			w.breach(I14, "checkpoint %s is gone", app.Checkpoint.Manifest)
			d.excuse = "checkpoint gone"
			d.end(errors.New("checkpoint gone"))
			return
		}
		var id, total, taken int64
		_, _ = fmt.Sscanf(string(file.data), "%d %d %d", &id, &total, &taken)
		if w.bug == "stale state" {
			total--
		}
		held, d.totals[id], d.taken = id, total, taken
	}
	all := append(slices.Clone(app.Kept), app.Open...)
	if len(app.Kept) == 0 && app.Next > 0 && app.Oldest() > 0 {
		all = append([]driverlog.Batch{app.Last}, all...)
	}
	for _, b := range all {
		d.keep(b.ID, b.Time, spanOf(b))
		if w.bug == "other input" && len(app.Open) > 0 && b.ID == app.Next-1 && b.Prepared == 0 {
			d.spans[b.ID] = span{spanOf(b).from, spanOf(b).to + 1}
		}
	}
	if n := len(all); n > 0 {
		d.taken = spanOf(all[n-1]).to
		if w.bug == "offset forgotten" && all[n-1].ID%2 == 1 {
			d.taken = spanOf(all[n-1]).from
		}
	}
	if s.durable && !app.Registered {
		cmd := driverlog.Command{Kind: driverlog.Application, Epoch: d.epoch, App: appName, Time: s.zero}
		if err := w.apply(cmd); err != nil {
			d.excuse = "registration refused"
			d.end(err)
			return
		}
	}
	if s.durable {
		d.core.KeepCheckpoints(held, s.period)
	}
	last := s.zero
	if ms, ok := app.LastTime(); ok {
		last = ms
	}
	if d.next = last + 1000; !goesOn {
		d.next = max(d.next, w.now/1000*1000+1000)
	}
	marks, err := d.marks(app)
	if err == nil {
		err = d.core.Read(app, marks, goesOn)
	}
	if err != nil {
		w.breach(INV18, "read: %v", err)
		d.excuse = "read"
		d.end(err)
		return
	}
	d.core.TickOver(last)
	w.visible(app.Next - 3)
	d.mode = recover0
	d.decided(d.core.Recover())
}

// marks returns those after the last committed batch.
func (d *driver) marks(app driverlog.App) ([]protocol.Mark, error) {
	if len(app.Last.Manifest) == 0 {
		return nil, nil
	}
	m, reference, err := protocol.ReadManifest(app.Last.Manifest)
	if reference != nil {
		err = m.ReadList(d.s.w.blobs[string(reference)].data, protocol.Listed(app.Last.Manifest))
	}
	return protocol.Marked(m.Marks, app.Last.ID, m.Staged), err
}

// keep takes note of a batch's input.
func (d *driver) keep(id, ms int64, sp span) {
	d.spans[id], d.times[id] = sp, ms
	if before, ok := d.totals[id-1]; ok {
		d.totals[id] = before + sp.sum()
	}
}

// decided takes the next action of the chain of decisions.
func (d *driver) decided(a protocol.Action) {
	d.decide = nil
	switch {
	case d.mode == ended:
		d.mustEnd(a)
	case a.Do == protocol.End:
		if d.core.Over() == nil {
			d.excuse = "batch failed"
		}
		d.end(a.Err)
	case a.Do != 0:
		d.decide = &op{Action: a, ready: d.s.w.now + a.Wait.Milliseconds()}
	case d.mode == recover0:
		d.mode = runs
		d.again = d.core.Again()
	}
}

// choose plans the next batch.
func (d *driver) choose() {
	w := d.s.w
	n := max(0, w.rng.Int64N(8)-2) // of records: one in four has none
	sp := span{d.taken, d.taken + n}
	inputs := []driverlog.Input{{Data: sp.encode()}}
	d.s.w.tracef("driver %d plans %d: %d to %d", d.n, d.next, sp.from, sp.to)
	a := protocol.Action{}
	if n == 0 {
		a = d.core.Whole(d.next, inputs)
	}
	isWhole := a.Do != 0
	if !isWhole {
		a = d.core.Begin(d.next, inputs)
	}
	if a.Do == protocol.End {
		d.end(a.Err)
		return
	}
	d.spans[a.Batch.ID], d.times[a.Batch.ID] = sp, d.next // it counts once it is in the log
	d.plan = &op{Action: a, ready: w.now, whole: isWhole}
}

// begun says that the batch which was planned is in the log.
func (d *driver) begun(b protocol.Batch) {
	d.plan = nil
	d.keep(b.ID, b.Time, d.spans[b.ID])
	d.taken = d.spans[b.ID].to
	d.next = b.Time + 1000
	d.core.TickOver(b.Time)
	d.changed = d.changed || b.ID%4 == 3
}

// start queues the jobs of a batch.
func (d *driver) start(b protocol.Batch) {
	r := &run{Batch: b}
	if d.spans[b.ID].sum() > 0 {
		r.jobs = append(r.jobs, job{output: 0})
		if !b.Repeated {
			r.jobs = append(r.jobs, job{output: 1}, job{output: 2})
		}
	}
	d.queue = append(d.queue, r)
	if !b.Repeated && d.spans[b.ID] != d.s.w.batches[b.ID].span {
		d.s.w.breach(INV3, "batch %d runs with %v, recorded is %v", b.ID, d.spans[b.ID], d.s.w.batches[b.ID].span)
	}
}

// rowsOf computes what an output makes of a batch.
func (d *driver) rowsOf(output string, id int64) string {
	w, sp := d.s.w, d.spans[id]
	switch {
	case output == "b":
		return fmt.Sprintf("%d: records %d to %d", id, sp.from, sp.to)
	case !d.s.durable:
		return fmt.Sprintf("%d: sum %d", id, sp.sum())
	}
	total, ok := d.totals[id]
	if want := prefix(w.batches[id].span.to); !ok || total != want {
		w.breach(INV7, "batch %d ends with state %d, want %d", id, total, want)
	}
	window := int64(0)
	for i := max(0, id-2); i <= id; i++ {
		in, ok := d.spans[i]
		if !ok {
			w.breach(INV8, "the window of batch %d lacks batch %d", id, i)
		}
		window += in.sum()
	}
	return fmt.Sprintf("%d: sum %d total %d window %d", id, sp.sum(), total, window)
}

// outcome is what the core is told of a batch's jobs.
func (r *run) outcome() protocol.Outcome {
	o := protocol.Outcome{Jobs: len(r.jobs), Err: r.notMade, Failures: r.failures, Staged: r.staged}
	slices.SortFunc(o.Failures, func(x, y protocol.OutputFailure) int { return x.Output - y.Output })
	slices.SortFunc(o.Staged, func(x, y protocol.Staged) int { return int(x.Output[0]) - int(y.Output[0]) })
	if len(r.failures) > 0 {
		o.Err = r.failures[0].Err
	}
	return o
}

// over reports whether all jobs have ended for good.
func (r *run) over() bool {
	return !slices.ContainsFunc(r.jobs, func(j job) bool { return !j.done })
}

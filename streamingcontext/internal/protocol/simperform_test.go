package protocol_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// do lets an event of a driver happen.
func (d *driver) do(e event) {
	w := d.s.w
	w.tracef("driver %d: %s %d", d.n, e.what, e.i)
	switch e.what {
	case "wake":
		d.paused = false
	case "lead":
		d.at(protocol.Lead, d.lead)
	case "told that it does not lead":
		d.excuse = "lost"
		d.lostAt = 0
		if d.epoch == w.state.Epoch {
			return // an old notice
		}
		d.end(errors.New("lost"))
	case "gone":
		d.stop(down)
	case "read":
		d.at(protocol.Recover, d.read)
	case "run again":
		d.at(protocol.RunAgain, func() {
			d.start(d.again[0])
			d.again = d.again[1:]
		})
	case "plan":
		d.at(protocol.P0Plan, d.choose)
	case "begin":
		d.perform(d.plan, true)
	case "decide":
		d.perform(d.decide, false)
	case "job":
		d.runJob(d.queue[e.i])
	case "jobs ended":
		r := d.queue[e.i]
		d.queue = slices.Delete(d.queue, e.i, e.i+1)
		if w.bug == "batch forgotten" && r.ID%9 == 5 {
			return
		}
		o := r.outcome()
		if r.Repeated && o.Err == nil && d.mode == runs {
			w.again[r.ID] = d.epoch
		}
		d.decided(d.core.JobsEnded(r.ID, r.Repeated, o))
	}
}

// at lets f happen at a point where the driver may die.
func (d *driver) at(p protocol.Point, f func()) {
	switch d.s.meets(d, p) {
	case dieBefore:
		d.stop(down)
	case dieAfter:
		f()
		d.stop(down)
	case still:
		f()
		if d.mode != down {
			d.stand()
		}
	default:
		f()
	}
}

// perform does an action, or lets it fail.
func (d *driver) perform(o *op, planned bool) {
	s, w := d.s, d.s.w
	var can []outcome
	switch o.Do {
	case protocol.Propose:
		can = []outcome{fails, failsAfter, comesLate, slow}
	case protocol.CommitOutput, protocol.WriteBlob, protocol.Checkpoint:
		can = []outcome{fails, failsAfter, slow, slow}
	case protocol.CleanOutput, protocol.Sweep, protocol.ReadBlob:
		can = []outcome{fails}
	}
	if o.slow {
		can = slices.DeleteFunc(can, func(o outcome) bool { return o == slow })
	}
	meets := s.meets(d, o.Point, can...)
	if w.bug == "stale sweep" && o.Do == protocol.Sweep && !s.healed && w.rng.IntN(2) == 0 {
		d.stand()
		d.wakeAt = s.steps + 300
		return
	}
	w.tracef("driver %d: %s (%s) of batch %d %s", d.n, o.Do, o.Point, o.Batch.ID, o.Output)
	switch meets {
	case dieBefore:
		d.debris(o)
		d.stop(down)
		return
	case still:
		d.stand()
		return
	case slow:
		o.slow = true
		if o.ready = w.now + 100 + w.rng.Int64N(3000); s.stalls && o.Do == protocol.CommitOutput {
			o.ready = w.now + 90_000
			s.hangs = o.ready
			s.stalls = false
			s.fault("a sink hangs until no more batches may begin")
		}
		return
	}
	if w.bug == "committed early" && o.Do == protocol.Propose && o.Commands[0].Kind == driverlog.Prepared {
		d.early(o)
	}
	ans := d.answer(o, meets)
	if meets == dieAfter {
		d.stop(down)
		return
	}
	d.answered(o, ans, planned)
}

// answered gives the answer to the core.
func (d *driver) answered(o *op, ans protocol.Answer, planned bool) {
	w := d.s.w
	final := ans.Err != nil && !ans.Again
	if final {
		d.excuse = ans.Err.Error()
		if w.bug == "error swallowed" && o.Do == protocol.CommitOutput {
			ans = protocol.Answer{}
		}
	}
	a := d.core.Answered(o.Action, ans)
	if d.mode == ended {
		d.mustEnd(a)
		return
	}
	if final && a.Do != protocol.End {
		w.breach(INV18, "driver %d goes on after %v", d.n, d.excuse)
	}
	switch {
	case !planned:
		d.decided(a)
	case a.Do == protocol.End:
		d.plan = nil
		d.end(a.Err)
	case a.Do == protocol.Run:
		d.begun(a.Batch)
		d.at(protocol.P2Run, func() { d.start(a.Batch) })
	case a.Do == 0:
		d.plan = nil
	default: // a whole batch goes on, as the chain of decisions does
		d.plan = &op{Action: a, ready: w.now, whole: true}
	}
}

// answer lets an action have its effect, and returns what the core is told.
func (d *driver) answer(o *op, meets outcome) protocol.Answer {
	w := d.s.w
	bad := meets == fails || meets == failsAfter
	switch o.Do {
	case protocol.Propose:
		return d.propose(o, meets)
	case protocol.WriteBlob:
		if meets == fails {
			return protocol.Answer{Err: errors.New("blob store fails")}
		}
		ans := protocol.Answer{Data: w.putBlob(o.Blob, d.epoch)}
		if meets == failsAfter {
			ans.Err = errors.New("blob store seems to fail")
		}
		return ans
	case protocol.ReadBlob:
		blob, ok := w.blobs[string(o.Blob)]
		if meets == fails {
			return protocol.Answer{Err: errors.New("blob is not read")}
		}
		if !ok && d.epoch == w.state.Epoch { // who leads no more may find that others have done with it
			w.breach(I11, "blob of batch %d is gone", o.Batch.ID)
		}
		if !ok {
			return protocol.Answer{Err: errors.New("blob gone")}
		}
		return protocol.Answer{Data: blob.data}
	case protocol.CommitOutput:
		return d.commit(o, meets)
	case protocol.Planned:
		d.begun(o.Batch)
	case protocol.Forget:
		for id := range d.spans {
			if id < o.Batch.ID-2 {
				delete(d.spans, id)
				delete(d.totals, id-1)
			}
		}
		changed := d.changed
		d.changed = false
		return protocol.Answer{Changed: changed}
	case protocol.Checkpoint:
		if bad {
			if meets == failsAfter {
				w.temps = append(w.temps, d.epoch)
			}
			if w.rng.IntN(4) == 0 {
				return protocol.Answer{Err: errors.New("the log's state is not read")}
			}
			return protocol.Answer{Err: errors.New("no space"), Again: true}
		}
		id := o.Batch.ID
		name := fmt.Sprintf("checkpoint-%d-%d", id, d.epoch)
		w.files[name] = stored{fmt.Appendf(nil, "%d %d %d", id, d.totals[id], d.spans[id].to), d.epoch}
		app := w.app()
		return protocol.Answer{Data: []byte(name), App: app, Keep: d.core.Keep(app, id, d.times[max(0, id-1)])}
	case protocol.Sweep:
		if !bad {
			w.sweep(d.epoch)
			w.swept(d.epoch)
		}
	case protocol.Tell:
		w.tracef("driver %d: batch %d is settled", d.n, o.Batch.ID)
	}
	return protocol.Answer{}
}

// propose enters commands, or does not.
func (d *driver) propose(o *op, meets outcome) protocol.Answer {
	w := d.s.w
	cmds := slices.Clone(o.Commands)
	for i := range cmds {
		cmds[i].Manifest = slices.Clone(cmds[i].Manifest)
		if m, reference, err := protocol.ReadManifest(cmds[i].Manifest); cmds[i].Kind == driverlog.Prepared && err == nil && reference == nil {
			switch w.bug {
			case "marks forgotten":
				m.Marks = nil
				cmds[i].Manifest, _ = m.Append(nil, driverlog.MaxPayload)
			case "owed forgotten":
				m.Owed = nil
				cmds[i].Manifest, _ = m.Append(nil, driverlog.MaxPayload)
			}
		}
		if w.bug == "window not kept" && cmds[i].Kind == driverlog.Checkpointed {
			cmds[i].Keep = cmds[i].Batch + 1
		}
	}
	switch meets {
	case fails:
		if w.rng.IntN(2) == 0 {
			return protocol.Answer{Err: errRefused}
		}
		return protocol.Answer{Err: driverlog.ErrUnknown} // and it never comes
	case comesLate:
		w.late = append(w.late, lateCommands{w.now + w.rng.Int64N(3000), cmds})
		slices.SortStableFunc(w.late, func(x, y lateCommands) int { return int(x.at - y.at) })
		return protocol.Answer{Err: driverlog.ErrUnknown}
	}
	if w.bug == "never a checkpoint" && cmds[0].Kind == driverlog.Checkpointed {
		return protocol.Answer{}
	}
	err := w.propose(cmds)
	if w.bug == "other manifest" && cmds[0].Kind == driverlog.Prepared && o.Batch.ID%5 == 3 {
		cmds[0].Manifest = append(cmds[0].Manifest, 0)
		err = w.propose(cmds)
	}
	if err == nil && meets == failsAfter {
		err = driverlog.ErrUnknown
	}
	return protocol.Answer{Err: err}
}

// commit lets a sink commit, or not.
func (d *driver) commit(o *op, meets outcome) protocol.Answer {
	w := d.s.w
	if meets == fails {
		if w.rng.IntN(3) == 0 {
			return protocol.Answer{Err: errFinal}
		}
		return protocol.Answer{Err: errSink, Again: true}
	}
	epoch := d.epoch
	switch {
	case w.bug == "mark put back" && o.Batch.ID%6 == 5:
		w.sinks[o.Output].mark -= 2
	case w.bug == "sink does not fence" && o.Batch.ID%3 == 2:
		epoch = 1
	}
	err := w.commit(o.Output, o.Batch, epoch, o.Staged, meets == failsAfter || o.Batch.ID%8 == 2)
	if err == nil && meets == failsAfter {
		return protocol.Answer{Err: errSink, Again: true}
	}
	return protocol.Answer{Err: err}
}

// early is a planted bug: what is staged is committed before it is decided.
func (d *driver) early(o *op) {
	m, reference, err := protocol.ReadManifest(o.Commands[0].Manifest)
	if err != nil || reference != nil {
		return
	}
	for _, s := range m.Staged {
		_ = d.s.w.commit(s.Output, o.Batch, d.epoch, s.Bytes, false)
	}
}

// debris is what a write leaves that a process died in.
func (d *driver) debris(o *op) {
	if o.Do == protocol.WriteBlob || o.Do == protocol.Checkpoint {
		d.s.w.temps = append(d.s.w.temps, d.epoch)
	}
}

// runJob runs the next job of a batch.
func (d *driver) runJob(r *run) {
	s, w := d.s, d.s.w
	i := slices.IndexFunc(r.jobs, func(j job) bool { return !j.done })
	j := &r.jobs[i]
	output := outputNames[j.output]
	j.tries++
	meets := s.meets(d, protocol.P2Stage, fails, failsAfter)
	if meets == dieBefore {
		d.stop(down)
		return
	}
	name := fmt.Sprintf("%d/%d/%s/%d", d.epoch, r.ID, output, j.tries)
	if w.bug == "same names" {
		name = fmt.Sprintf("%d/%s", r.ID, output)
	}
	if meets != fails {
		if j.output == 0 {
			if w.bug != "plain output not run" || r.ID%5 != 1 {
				w.plain[r.ID]++
			}
		} else {
			rows := d.rowsOf(output, r.ID)
			w.ran(output, r.ID, rows)
			w.stage(name, rows)
			if w.bug == "shown when staged" && r.ID%4 == 2 {
				w.sinks[output].shown[r.ID] = append(w.sinks[output].shown[r.ID], name)
				w.sinks[output].mark = max(w.sinks[output].mark, r.ID)
			}
		}
	}
	w.tracef("driver %d: job %s of batch %d, try %d", d.n, output, r.ID, j.tries)
	switch {
	case meets == dieAfter:
		d.stop(down)
	case meets == still:
		d.stand()
		fallthrough
	case meets == goes:
		if j.done = true; j.output > 0 {
			r.staged = append(r.staged, protocol.Staged{Output: output, Bytes: []byte(name)})
		}
	case j.tries > 1: // for good
		j.done = true
		r.failures = append(r.failures, protocol.OutputFailure{Output: j.output, Err: errors.New("job fails")})
		if !s.setAside {
			d.core.Halt()
		}
	}
}

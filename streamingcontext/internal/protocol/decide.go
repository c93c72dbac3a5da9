package protocol

import (
	"slices"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// Waits between tries at a sink that does not commit.
const (
	firstCommitWait = 100 * time.Millisecond
	lastCommitWait  = 5 * time.Second
)

// purpose is what the chain of decisions is at.
type purpose uint8

const (
	idle     purpose = iota
	rolling          // a batch that an earlier term has prepared forward
	givingUp         // one that an earlier term has begun
	closing          // one of this term whose jobs have ended
	whole            // one that has none
)

// work is where the chain of decisions is.
type work struct {
	what     purpose
	batch    Batch
	inputs   []driverlog.Input // of a whole batch
	manifest Manifest
	head     []byte // of the manifest, before a reference
	staged   []Staged
	at       int           // which of staged is next
	wait     time.Duration // before it is tried
	keep     int64         // of a checkpoint

	roll, giveUp, adopt []driverlog.Batch // of an earlier term

	done   int    // batches of this chain that are committed, at the front of Core.open
	told   *batch // whose jobs have ended
	failed error  // what the term ends with once all before it is done
}

// JobsEnded says that all jobs of a batch have ended for good, and commits what can be committed now: that batch and those behind
// it that waited for it. Where the oldest open batch has failed and stays, the chain ends with its error.
func (c *Core) JobsEnded(id int64, repeated bool, o Outcome) Action {
	if c.over != nil {
		return c.end(c.over)
	}
	all := c.open
	if repeated {
		all = c.repeated
	}
	i := slices.IndexFunc(all, func(b *batch) bool { return b.ID == id })
	if i < 0 || all[i].ended || c.work.what != idle {
		return c.fail(ErrOrder)
	}
	b := all[i]
	b.ended, b.outcome = true, o
	c.work = work{what: closing, told: b}
	if o.Err != nil && !c.opts.SetAside {
		c.halted = true
	}
	if repeated {
		c.owe(id, o.Err != nil)
		if !c.opts.SetAside {
			c.work.failed = o.Err
		}
	}
	return c.closeNext()
}

// closeNext closes the oldest batch that is open and not done in this chain, if its jobs have ended well enough.
func (c *Core) closeNext() Action {
	w := &c.work
	tell := Action{Do: Tell, Point: P7Tell, Batch: w.told.Batch}
	if w.done == len(c.open) || !c.open[w.done].ended {
		return c.act(tell)
	}
	b := c.open[w.done]
	if b.outcome.Err != nil && !c.opts.SetAside {
		w.failed = b.outcome.Err
		return c.act(tell)
	}
	w.batch, w.staged, w.at, w.wait = b.Batch, b.outcome.Staged, 0, 0
	c.owe(b.ID, len(b.outcome.Failures) > 0)
	return c.decide(b.outcome.manifest())
}

// manifest returns what is known of a batch's end, but for what it has staged and what batches before it have left.
func (o *Outcome) manifest() Manifest {
	switch {
	case o.Err == nil:
		return Manifest{Kind: Done, Outputs: o.Jobs}
	case len(o.Failures) == 0:
		return Manifest{Kind: NotGenerated, Outputs: o.Jobs, Err: o.Err.Error()}
	}
	m := Manifest{Kind: Aside, Outputs: o.Jobs, Failed: len(o.Failures)}
	for _, f := range o.Failures[:min(len(o.Failures), manifestFailures)] {
		m.Failures = append(m.Failures, Failure{f.Output, f.Err.Error()})
	}
	return m
}

// decide fixes the manifest of the batch in hand: what became of it, what it has staged, what is owed once it is committed and what
// other outputs have staged last.
func (c *Core) decide(m Manifest) Action {
	w := &c.work
	m.Owed, m.Staged, m.Marks = c.owed, w.staged, without(c.marks, w.staged)
	head, list := m.Append(nil, c.opts.MaxManifest)
	w.head = head
	if list != nil {
		return c.act(Action{Do: WriteBlob, Point: w.point(GiveUpManifest, P3Manifest, P1WholeManifest), Blob: list})
	}
	return c.prepare()
}

// prepare proposes the manifest, with all that can be in the same step of the log.
func (c *Core) prepare() Action {
	w := &c.work
	prepared := c.command(driverlog.Prepared, w.batch.ID)
	prepared.Manifest = w.head
	cmds := c.cmds[:0]
	if w.what == whole {
		begin := c.command(driverlog.Begin, w.batch.ID)
		begin.Time, begin.Inputs = w.batch.Time, w.inputs
		cmds = append(cmds, begin)
	}
	cmds = append(cmds, prepared)
	if w.what != closing { // nothing is staged
		cmds = append(cmds, c.command(driverlog.Committed, w.batch.ID))
	}
	return c.act(Action{Do: Propose, Point: w.point(GiveUp, P4Prepared, P1Whole), Commands: cmds})
}

// forward commits what outputs have staged, one after the other, and then the batch. What it does may be done again at any time: who
// leads next does the same.
func (c *Core) forward() Action {
	w := &c.work
	if w.at < len(w.staged) {
		s := w.staged[w.at]
		return c.act(Action{Do: CommitOutput, Point: w.rollPoint(RollCommit, P5Commit), Output: s.Output, Staged: s.Bytes, Wait: w.wait})
	}
	w.at = 0
	return c.act(Action{Do: Propose, Point: w.rollPoint(RollCommitted, P6Committed), Commands: append(c.cmds[:0], c.command(driverlog.Committed, w.batch.ID))})
}

// clean lets outputs remove what tries have left.
func (c *Core) clean() Action {
	w := &c.work
	if w.at < len(w.staged) {
		return c.act(Action{Do: CleanOutput, Point: w.rollPoint(RollClean, P7Clean), Output: w.staged[w.at].Output})
	}
	if w.what == rolling {
		return c.rolled()
	}
	return c.act(Action{Do: Forget, Point: P7Forget})
}

// worked goes on after an action of the chain.
func (c *Core) worked(a Action, ans Answer) Action {
	w := &c.work
	switch a.Do {
	case ReadBlob:
		if err := w.manifest.ReadList(ans.Data, Listed(w.roll[0].Manifest)); err != nil {
			return c.fail(err)
		}
		w.staged = w.manifest.Staged
		return c.forward()
	case WriteBlob:
		w.head = append(w.head, ans.Data...)
		return c.prepare()
	case Propose:
		return c.proposed(a)
	case CommitOutput:
		if w.wait = 0; ans.Again {
			w.wait = min(max(2*a.Wait, firstCommitWait), lastCommitWait)
		} else {
			w.at++
		}
		return c.forward()
	case CleanOutput:
		w.at++
		return c.clean()
	case Planned:
		return c.act(Action{Do: Forget, Point: P7Forget})
	case Forget:
		return c.committed(ans.Changed)
	case Checkpoint:
		return c.checkpointed(ans)
	case Sweep:
		return c.nextBatch()
	case Tell:
		return c.settle()
	}
	return c.fail(ErrOrder)
}

// proposed goes on after commands that took effect.
func (c *Core) proposed(a Action) Action {
	w := &c.work
	switch a.Point {
	case P4Prepared:
		c.marks = Marked(c.marks, w.batch.ID, w.staged)
		return c.forward()
	case RollCommitted, P6Committed:
		return c.clean()
	case GiveUp:
		return c.rolled()
	case P1Whole:
		c.next = w.batch.ID + 1
		return c.act(Action{Do: Planned, Point: P1Whole})
	case P7Checkpointed:
		c.held = w.batch.ID
		return c.act(Action{Do: Sweep, Point: P7Sweep, Keep: w.keep})
	}
	return c.fail(ErrOrder)
}

// nextBatch goes on with the next batch, the one in hand being done.
func (c *Core) nextBatch() Action {
	w := &c.work
	if w.what == whole {
		c.work = work{}
		return Action{}
	}
	w.done++
	return c.closeNext()
}

// settle removes the batches that are done, all at once, so that nobody sees one that has ended and that its turn has not come to yet.
func (c *Core) settle() Action {
	w := c.work
	c.work = work{}
	n := copy(c.open, c.open[w.done:])
	clear(c.open[n:])
	c.open = c.open[:n]
	w.told.settled = true
	if w.failed != nil {
		return Action{Do: End, Err: w.failed} // but what waits for its turn may still be told
	}
	return Action{}
}

// act returns an action of the chain.
func (c *Core) act(a Action) Action {
	if a.lane = deciding; a.Do != Tell {
		a.Batch = c.work.batch
	}
	return a
}

func (w *work) point(givenUp, closed, wholly Point) Point {
	switch w.what {
	case givingUp:
		return givenUp
	case whole:
		return wholly
	}
	return closed
}

func (w *work) rollPoint(rolled, closed Point) Point {
	if w.what == rolling {
		return rolled
	}
	return closed
}

package protocol

import (
	"fmt"
	"slices"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// Read takes over what the log knows of the application. marks are those after its last committed batch. Where the term recovers,
// the batches that an earlier term has begun only are run again, and with Options.Repeats those that it has set aside; else the
// former are given up, as their input is gone.
//
// Errors: ErrDamaged.
func (c *Core) Read(app driverlog.App, marks []Mark, recovers bool) error {
	c.next, c.marks = app.Next, marks
	begun := app.Open
	for len(begun) > 0 && begun[0].Prepared != 0 {
		begun = begun[1:]
	}
	c.work.roll, c.work.giveUp = app.Open[:len(app.Open)-len(begun)], begun
	if !recovers {
		return nil
	}
	c.work.giveUp = nil
	if err := c.repeat(app, len(begun) == 0); err != nil {
		return err
	}
	c.work.adopt = begun
	return nil
}

// repeat chooses the batches that are run again though they are committed: those that were set aside, and the last one where it
// may have been cut short.
func (c *Core) repeat(app driverlog.App, last bool) error {
	if !c.opts.Repeats {
		return nil
	}
	owed, err := OwedBy(app)
	if err != nil {
		return err
	}
	for _, b := range owed {
		c.owed = append(c.owed, b.ID)
	}
	if b, ok := app.Batch(app.Next - 1); ok && last && !slices.Contains(c.owed, b.ID) {
		owed = append(owed, b)
	}
	for _, b := range owed {
		c.repeated = append(c.repeated, &batch{Batch: Batch{ID: b.ID, Time: b.Time, Repeated: true}})
	}
	return nil
}

// Recover makes the batches that an earlier term has prepared visible, and gives up those that nobody can run again. When its chain is
// at its end Again has what the term must run before anything else.
func (c *Core) Recover() Action {
	if c.over != nil {
		return c.end(c.over)
	}
	return c.rollNext()
}

// rollNext goes on with the oldest batch of an earlier term.
func (c *Core) rollNext() Action {
	w := &c.work
	switch {
	case len(w.roll) > 0:
		b := w.roll[0]
		w.what, w.batch = rolling, Batch{ID: b.ID, Time: b.Time}
		m, reference, err := ReadManifest(b.Manifest)
		if err != nil {
			return c.fail(fmt.Errorf("manifest of batch id %d: %w", b.ID, err))
		}
		if w.manifest = m; reference != nil {
			return c.act(Action{Do: ReadBlob, Point: RollRead, Blob: reference})
		}
		w.staged = m.Staged
		return c.forward()
	case len(w.giveUp) > 0:
		b := w.giveUp[0]
		w.what, w.batch = givingUp, Batch{ID: b.ID, Time: b.Time}
		return c.decide(Manifest{Kind: Abandoned})
	}
	for _, b := range w.adopt {
		c.open = append(c.open, &batch{Batch: Batch{ID: b.ID, Time: b.Time}})
	}
	c.work = work{}
	return Action{}
}

// rolled is called when the batch in hand is committed and cleaned.
func (c *Core) rolled() Action {
	w := &c.work
	if w.what == rolling {
		c.marks = Marked(c.marks, w.batch.ID, w.staged)
		w.roll = w.roll[1:]
	} else {
		w.giveUp = w.giveUp[1:]
	}
	w.staged, w.at, w.wait = nil, 0, 0
	return c.rollNext()
}

// Again returns what an earlier term has left to be run again, in the order of the batches: the repeated ones and those that it
// has begun.
func (c *Core) Again() []Batch {
	var all []Batch
	for _, b := range slices.Concat(c.repeated, c.open) {
		all = append(all, b.Batch)
	}
	return all
}

// Skip drops a repeated batch that cannot be made again.
func (c *Core) Skip(id int64) {
	c.repeated = slices.DeleteFunc(c.repeated, func(b *batch) bool { return b.ID == id })
}

package protocol

import "github.com/leat-io/leat/scheduler/driverlog"

// Begin starts the batch of a time with what its inputs recorded. It is one that has something to run, or that batches before it
// keep from being done at once. The action at the end is Run.
func (c *Core) Begin(ms int64, inputs []driverlog.Input) Action {
	switch {
	case c.over != nil:
		return c.end(c.over)
	case c.begin != nil || len(c.open) >= driverlog.Window:
		return c.fail(ErrOrder)
	}
	c.begin = &batch{Batch: Batch{ID: c.next, Time: ms}}
	c.inputs[0] = c.command(driverlog.Begin, c.next)
	c.inputs[0].Time, c.inputs[0].Inputs = ms, inputs
	return Action{Do: Propose, Point: P1Begin, Batch: c.begin.Batch, Commands: c.inputs[:], lane: planning}
}

// begun says that the Begin is in the log.
func (c *Core) begun() Action {
	b := c.begin
	if b == nil {
		return c.fail(ErrOrder)
	}
	c.begin = nil
	c.next = b.ID + 1
	c.open = append(c.open, b)
	return Action{Do: Run, Point: P2Run, Batch: b.Batch}
}

// Whole begins, prepares and commits the batch of a time that has nothing to run, in one step of the log. It returns the zero Action, and
// has changed nothing, where batches before it are open or something else is being decided.
func (c *Core) Whole(ms int64, inputs []driverlog.Input) Action {
	switch {
	case c.over != nil:
		return c.end(c.over)
	case len(c.open) > 0 || c.work.what != idle || c.begin != nil:
		return Action{}
	}
	c.work = work{what: whole, batch: Batch{ID: c.next, Time: ms}, inputs: inputs}
	// The newest manifest has all that is owed, and when each output staged last.
	return c.decide(Manifest{Kind: Done})
}

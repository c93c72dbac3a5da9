package protocol

import "github.com/leat-io/leat/scheduler/driverlog"

// committed goes on after a batch that is committed and forgotten: with a checkpoint, if one is due.
func (c *Core) committed(changed bool) Action {
	if w := &c.work; c.checkpoints && (changed || w.batch.ID-c.held >= c.period) {
		return c.act(Action{Do: Checkpoint, Point: P7Checkpoint})
	}
	return c.nextBatch()
}

// checkpointed proposes a checkpoint whose files are written. One that could not be written is tried after the next batch.
func (c *Core) checkpointed(ans Answer) Action {
	if ans.Again {
		return c.nextBatch()
	}
	if ans.App == nil {
		return c.fail(ErrOrder)
	}
	w := &c.work
	w.keep = max(ans.App.Checkpoint.Keep, ans.Keep)
	cmd := c.command(driverlog.Checkpointed, w.batch.ID)
	cmd.Keep, cmd.Manifest = w.keep, ans.Data
	return c.act(Action{Do: Propose, Point: P7Checkpointed, Commands: append(c.cmds[:0], cmd)})
}

// Keep returns the first batch whose inputs a checkpoint of batch id needs: of those from the time needed on, which streams need,
// those that are owed, and the one behind. App is what the log knows.
func (c *Core) Keep(app *driverlog.App, id, needed int64) int64 {
	keep := id + 1
	for _, kept := range app.Kept {
		if kept.Time >= needed {
			keep = min(kept.ID, keep)
			break
		}
	}
	if len(c.owed) > 0 {
		keep = max(app.Checkpoint.Keep, min(keep, c.owed[0]))
	}
	return keep
}

package driverlog

import (
	"bytes"
	"slices"
)

// application registers an application, or gives a registered one another description. Its zero time never changes.
// Batches committed before are not kept: their inputs may be forgotten already.
func application(state *State, index uint64, cmd Command) (Result, error) {
	res := Result{Index: index, Epoch: cmd.Epoch}
	i, known := state.find(cmd.App)
	if !known {
		if len(state.Apps) >= MaxApps {
			return Result{}, &LimitError{What: "applications", Limit: MaxApps}
		}
		state.Apps = slices.Insert(state.Apps, i, App{Name: cmd.App})
	}
	a := &state.Apps[i]
	if a.Registered {
		if a.Zero != cmd.Time {
			return Result{}, &ZeroTimeError{App: cmd.App, Have: a.Zero, Got: cmd.Time}
		}
		if bytes.Equal(a.Description, cmd.Manifest) {
			return Result{Epoch: cmd.Epoch, Duplicate: true}, nil
		}
	}
	a.Registered, a.Zero = true, cmd.Time
	a.Description = append([]byte(nil), cmd.Manifest...)
	return res, nil
}

// checkpointed takes note of a checkpoint and forgets the kept batches that nothing made since needs.
func checkpointed(state *State, index uint64, cmd Command) (Result, error) {
	bad := func(reason string) (Result, error) {
		return Result{}, &CheckpointError{App: cmd.App, Batch: cmd.Batch, Keep: cmd.Keep, Reason: reason}
	}
	i, known := state.find(cmd.App)
	if !known || !state.Apps[i].Registered {
		return bad("the application is not registered")
	}
	a := &state.Apps[i]
	c := &a.Checkpoint
	switch {
	case cmd.Batch >= a.Oldest():
		return bad("the batch is not committed")
	case cmd.Batch < c.Batch:
		return bad("a later checkpoint stands")
	case cmd.Keep < c.Keep:
		return bad("the batches before that one of the last checkpoint are forgotten")
	case c.Index > 0 && cmd.Batch == c.Batch && cmd.Keep == c.Keep && bytes.Equal(cmd.Manifest, c.Manifest):
		return Result{Index: c.Index, Epoch: cmd.Epoch, Duplicate: true}, nil
	}
	*c = Checkpoint{Batch: cmd.Batch, Keep: cmd.Keep, Manifest: append([]byte(nil), cmd.Manifest...), Index: index}
	first := a.Oldest() - int64(len(a.Kept))
	if drop := min(cmd.Keep-first, int64(len(a.Kept))); drop > 0 {
		// Moved down rather than cut off in front, so that the array is used again; Delete clears what is left over.
		a.Kept = slices.Delete(a.Kept, 0, int(drop))
	}
	return Result{Index: index, Epoch: cmd.Epoch}, nil
}

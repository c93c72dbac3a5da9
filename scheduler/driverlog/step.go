package driverlog

import (
	"bytes"
	"slices"
)

// A Result is the answer to a command that took effect, now or before.
type Result struct {
	// Index is the log index at which the decision was taken: for a LeaderStart, the epoch. It is 0 for
	// a Committed so old that the state has forgotten it, and for a repeated Application or Control.
	Index uint64
	// Epoch is the epoch under which the answer was first given.
	Epoch uint64
	// Duplicate says that the decision had been taken before and the state was left alone.
	Duplicate bool
}

// Step returns the answer to cmd, found at index of the log, and applies it to state.
//
// It depends on nothing but its arguments: replicas that step through the same commands hold the
// same state, byte for byte. A command that is refused, or only repeats a decision, leaves the
// state as it was. The state keeps copies of the command's slices.
//
// A repeated request id gets its first answer even if its epoch is over by then: what was decided
// stays decided, and the proposer wants to know. Refusals are not remembered.
//
// Errors: *CommandError, *FencedError, *RequestError, *DenseError, *TimeError, *WindowError,
// *OrderError, *ConflictError, *ZeroTimeError, *CheckpointError, *StatusError, *LimitError; and *IndexError for indexes that do not rise.
func Step(state *State, index uint64, cmd Command) (Result, error) {
	if index <= state.Index {
		return Result{}, &IndexError{Have: state.Index, Got: index}
	}
	if err := cmd.Validate(); err != nil {
		return Result{}, err
	}
	if cmd.Request != (RequestID{}) {
		if a, ok := state.recent.find(cmd.Request); ok {
			if a.kind != cmd.Kind || a.app != cmd.App || a.batch != cmd.Batch {
				return Result{}, &RequestError{Request: cmd.Request, Was: a.kind, Batch: a.batch}
			}
			a.result.Duplicate = true
			return a.result, nil
		}
	}
	if cmd.Kind != LeaderStart && cmd.Epoch != state.Epoch {
		return Result{}, &FencedError{Have: state.Epoch, Got: cmd.Epoch}
	}

	res, err := Result{Index: index, Epoch: cmd.Epoch}, error(nil)
	switch cmd.Kind {
	case LeaderStart:
		state.Epoch, state.Leader = index, cmd.Node
		res.Epoch = index
	case Begin:
		err = begin(state, index, cmd)
	case Prepared:
		res, err = prepared(state, index, cmd)
	case Committed:
		res, err = committed(state, index, cmd)
	case Application:
		res, err = application(state, index, cmd)
	case Checkpointed:
		res, err = checkpointed(state, index, cmd)
	case Control:
		res, err = control(state, index, cmd)
	}
	if err != nil {
		return Result{}, err
	}
	if res.Duplicate {
		return res, nil
	}
	state.Index = index
	state.recent.add(cmd.Request, answer{kind: cmd.Kind, app: cmd.App, batch: cmd.Batch, result: res})
	return res, nil
}

func begin(state *State, index uint64, cmd Command) error {
	i, known := state.find(cmd.App)
	app := App{Name: cmd.App}
	if known {
		app = state.Apps[i]
	}
	switch last, any := app.LastTime(); {
	case cmd.Batch != app.Next:
		return &DenseError{App: cmd.App, Want: app.Next, Got: cmd.Batch}
	case any && cmd.Time <= last:
		return &TimeError{App: cmd.App, Last: last, Got: cmd.Time}
	case len(app.Open) >= Window:
		return &WindowError{App: cmd.App, Oldest: app.Oldest(), Open: len(app.Open)}
	case !known && len(state.Apps) >= MaxApps:
		return &LimitError{What: "applications", Limit: MaxApps}
	case app.Registered && len(app.Kept)+len(app.Open) >= MaxKept:
		return &LimitError{What: "batches since the last checkpoint of " + cmd.App, Limit: MaxKept}
	}
	if !known {
		state.Apps = slices.Insert(state.Apps, i, app)
	}
	a := &state.Apps[i]
	a.Next++
	a.Open = append(a.Open, Batch{
		ID: cmd.Batch, Time: cmd.Time, Epoch: cmd.Epoch, Begun: index, Inputs: cloneInputs(cmd.Inputs),
	})
	return nil
}

// prepared fixes the manifest of the oldest batch that has none. A leader that never heard the answer
// of an earlier Prepared may repeat it, under any later epoch, with the same manifest.
func prepared(state *State, index uint64, cmd Command) (Result, error) {
	i, known := state.find(cmd.App)
	if !known {
		return Result{}, &OrderError{Kind: Prepared, App: cmd.App, Batch: cmd.Batch, Want: -1}
	}
	a := &state.Apps[i]
	if b, ok := a.recent(cmd.Batch); ok && b.Prepared != 0 {
		if !bytes.Equal(b.Manifest, cmd.Manifest) {
			return Result{}, &ConflictError{App: cmd.App, Batch: cmd.Batch}
		}
		return Result{Index: b.Prepared, Epoch: cmd.Epoch, Duplicate: true}, nil
	}
	b := a.due()
	if b == nil || b.ID != cmd.Batch {
		want := int64(-1)
		if b != nil {
			want = b.ID
		}
		return Result{}, &OrderError{Kind: Prepared, App: cmd.App, Batch: cmd.Batch, Want: want}
	}
	b.Prepared = index
	b.Manifest = append([]byte(nil), cmd.Manifest...)
	return Result{Index: index, Epoch: cmd.Epoch}, nil
}

// committed closes the oldest open batch, which must be prepared. The one committed before it is forgotten, but for the
// inputs that a registered application keeps. Committing what has been committed changes nothing.
func committed(state *State, index uint64, cmd Command) (Result, error) {
	i, known := state.find(cmd.App)
	if !known {
		return Result{}, &OrderError{Kind: Committed, App: cmd.App, Batch: cmd.Batch, Want: -1}
	}
	a := &state.Apps[i]
	oldest := a.Oldest()
	if cmd.Batch < oldest {
		res := Result{Epoch: cmd.Epoch, Duplicate: true}
		if b, ok := a.Batch(cmd.Batch); ok {
			res.Index = b.Committed
		}
		return res, nil
	}
	if cmd.Batch != oldest || len(a.Open) == 0 || a.Open[0].Prepared == 0 {
		want := int64(-1)
		if len(a.Open) > 0 && a.Open[0].Prepared != 0 {
			want = oldest
		}
		return Result{}, &OrderError{Kind: Committed, App: cmd.App, Batch: cmd.Batch, Want: want}
	}
	a.Last = a.Open[0]
	a.Last.Committed = index
	if a.Registered { // Keep is at most Oldest, so every batch that is committed from now on stays
		kept := a.Last
		kept.Manifest = nil
		a.Kept = append(a.Kept, kept)
	}
	// Moved down rather than cut off in front, so that the array is used again.
	n := copy(a.Open, a.Open[1:])
	a.Open[n] = Batch{}
	a.Open = a.Open[:n]
	return Result{Index: index, Epoch: cmd.Epoch}, nil
}

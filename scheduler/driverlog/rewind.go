package driverlog

import "fmt"

// A RewindError says why an application cannot be taken back to a batch.
type RewindError struct {
	App    string
	Batch  int64 // the last one that was to stay committed
	Reason string
}

// Error returns the application, the batch and the reason.
func (e *RewindError) Error() string {
	return fmt.Sprintf("%s cannot be rewound to batch id %d: %s", e.App, e.Batch, e.Reason)
}

// Rewind returns the state in which batches of an application up to one are committed, and those after it are begun with the
// inputs that they had and not prepared, whatever was decided about them since. c is the checkpoint that counts then, one that the application
// has named before, of batch to or an earlier one; one with Index 0 is none. manifest takes the place of that of
// batch to, which is forgotten unless it is the last.
//
// No log takes a state for an answer to its commands: it is the beginning of another one, whose epochs are higher than all that
// outputs have seen.
//
// Errors: *RewindError; s is not changed.
func Rewind(s State, app string, to int64, c Checkpoint, manifest []byte) (State, error) {
	bad := func(format string, args ...any) (State, error) {
		return State{}, &RewindError{App: app, Batch: to, Reason: fmt.Sprintf(format, args...)}
	}
	i, known := s.find(app)
	if !known || !s.Apps[i].Registered {
		return bad("the application is not registered")
	}
	n := s.Clone()
	a := &n.Apps[i]
	first := a.Oldest() - int64(len(a.Kept)) // whose inputs are known
	switch {
	case to >= a.Oldest():
		return bad("the last batch that is committed has id %d", a.Oldest()-1)
	case to < -1 || to < first-1 || to >= 0 && to < first && to != a.Last.ID:
		return bad("the inputs of batches before id %d are forgotten", first)
	case c.Index > 0 && c.Batch > to:
		return bad("its checkpoint holds batch id %d", c.Batch)
	case c.Index > 0 && c.Keep < a.Checkpoint.Keep || c.Index == 0 && a.Checkpoint.Keep > 0:
		return bad("the inputs that follow its checkpoint are forgotten")
	case a.Next-1-to > Window:
		return bad("%d batches follow it, at most %d can be begun at once", a.Next-1-to, Window)
	}
	var again []Batch
	for _, b := range a.Kept {
		if b.ID > to {
			again = append(again, b)
		}
	}
	again = append(again, a.Open...)
	for j := range again {
		again[j].Prepared, again[j].Committed, again[j].Manifest = 0, 0, nil
	}
	a.Open = again
	a.Kept = a.Kept[:max(0, to+1-first)]
	switch {
	case to < 0:
		a.Last = Batch{}
	case len(a.Kept) > 0:
		a.Last = a.Kept[len(a.Kept)-1].clone()
	}
	a.Last.Manifest = append([]byte(nil), manifest...)
	a.Checkpoint = c
	a.Checkpoint.Manifest = append([]byte(nil), c.Manifest...)
	if c.Index == 0 {
		a.Checkpoint = Checkpoint{}
	}
	checked, err := DecodeState(n.Append(nil))
	if err != nil {
		return State{}, fmt.Errorf("rewind %s: %w", app, err)
	}
	return checked, nil
}

package file

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Batch is the files that were selected for a batch.
type Batch struct {
	Time  int64 // milliseconds since the epoch
	Files []File
}

// State is what a [Selector] has to know after a restart in order to answer as before. It has exported fields of plain
// types, for any codec.
type State struct {
	// Threshold is the modification time that every file must be above. It is that of the first start, not of the
	// restart, so that files that appeared in between are found.
	Threshold int64
	// Last is the newest batch there was, or the start if there was none.
	Last int64
	// Waiting is the modification time of the oldest file that a limit has left for a later batch, 0 if there is none.
	Waiting int64
	// Batches are the remembered batches, in the order of their times.
	Batches []Batch
}

// State returns the state, a copy.
func (s *Selector) State() State {
	state := State{Threshold: s.threshold, Last: s.last, Waiting: s.waited(), Batches: s.Selected()}
	for i := range state.Batches {
		state.Batches[i].Files = slices.Clone(state.Batches[i].Files)
	}
	return state
}

// Selected returns the remembered batches, in the order of their times. The caller must not change the files.
func (s *Selector) Selected() []Batch {
	batches := make([]Batch, 0, len(s.batches))
	for t, files := range s.batches {
		batches = append(batches, Batch{Time: t, Files: files})
	}
	slices.SortFunc(batches, func(a, b Batch) int { return cmp.Compare(a.Time, b.Time) })
	return batches
}

// Restore makes the selector answer as the one that state was taken from. What it remembered before is dropped.
//
// The first batch that is selected then reaches as far back as the one after state.Last would have: files that appeared while
// nobody looked are found, however long that was.
func (s *Selector) Restore(state State) {
	s.threshold = state.Threshold
	s.last = state.Last
	clear(s.batches)
	clear(s.taken)
	s.waiting.clear() // they are listed again, from the oldest on
	for _, batch := range state.Batches {
		s.record(batch.Time, slices.Clone(batch.Files))
	}
	s.resume(state.Waiting)
}

// waited returns the modification time from which on files may be left: of the oldest file that waits, or, after
// batches that did not look since the program came back, of the oldest that the next one would take; 0 if none are.
func (s *Selector) waited() int64 {
	oldest := s.waiting.oldest()
	if s.back != nil && (s.back.from != 0 || s.last > s.back.last) {
		if from := max(1, s.oldest(s.back.last+s.interval)+1); oldest == 0 || from < oldest {
			return from
		}
	}
	return oldest
}

// Record returns what Replay has to be given for the selector to know batch t: the batch's files, and what does not change
// between batches. That is nothing if t is a later batch than any that was selected.
//
// Errors: ErrForgotten.
func (s *Selector) Record(t int64) ([]byte, error) {
	files, ok := s.batches[t]
	if !ok && t > s.last {
		return nil, nil
	}
	if !ok {
		return nil, fmt.Errorf("files of batch %d: %w", t, ErrForgotten)
	}
	return State{Threshold: s.threshold, Last: t, Waiting: s.waited(), Batches: []Batch{{t, files}}}.Append(nil), nil
}

// Replay says that batch t had the files that are recorded: Select returns these and looks at nothing, and they count as
// selected. After the replayed batches Select goes on as after Restore. It may follow a Restore.
//
// Errors: *CorruptError, *VersionError.
func (s *Selector) Replay(t int64, recorded []byte) error {
	if len(recorded) == 0 {
		return nil
	}
	state, err := DecodeState(recorded)
	if err == nil && (len(state.Batches) != 1 || state.Batches[0].Time != t) {
		err = &CorruptError{What: "batch", Offset: 1}
	}
	if err != nil {
		return fmt.Errorf("files of batch %d: %w", t, err)
	}
	if s.back == nil { // no state was restored, and what the new program took for the start is later
		s.last = t
	}
	s.threshold = state.Threshold
	s.record(t, state.Batches[0].Files)
	s.resume(state.Waiting)
	return nil
}

// ErrForgotten is returned for a batch that was not selected, or is remembered no longer.
var ErrForgotten = errors.New("batch is not remembered")

package file

import (
	"cmp"
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
	// Batches are the remembered batches, in the order of their times.
	Batches []Batch
}

// State returns the state, a copy.
func (s *Selector) State() State {
	state := State{Threshold: s.threshold, Batches: s.Selected()}
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
func (s *Selector) Restore(state State) {
	s.threshold = state.Threshold
	clear(s.batches)
	clear(s.taken)
	for _, batch := range state.Batches {
		s.record(batch.Time, slices.Clone(batch.Files))
	}
}

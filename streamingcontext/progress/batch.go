package progress

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
)

// A Status is how far a batch has come.
type Status uint8

// The statuses of a batch, in order.
const (
	Queued     Status = iota // its jobs wait for their turn
	Processing               // one has started
	Completed                // all have ended
)

// String returns the status as the JSON API writes it.
func (s Status) String() string {
	switch s {
	case Queued:
		return "QUEUED"
	case Processing:
		return "PROCESSING"
	case Completed:
		return "COMPLETED"
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// A Batch is what is known of a batch.
type Batch struct {
	streamingcontext.BatchInfo
	Status Status
	// SetAside is why the batch failed, if the context went on without it; nil of any other.
	SetAside error
}

// Failed reports whether an output of the batch failed, or the batch was set aside.
func (b Batch) Failed() bool { return b.SetAside != nil || b.BatchInfo.Failed() }

// Outcomes returns how many outputs of the batch run, have ended well, and have failed.
func (b Batch) Outcomes() (active, succeeded, failed int) {
	for _, o := range b.Outputs {
		switch {
		case o.Err != nil:
			failed++
		case o.Ended != streamingcontext.Unknown:
			succeeded++
		case o.Started != streamingcontext.Unknown:
			active++
		}
	}
	return active, succeeded, failed
}

// maxOpen bounds the batches that wait or run. A context has fewer; more are here only where the events of
// their ends were lost.
const maxOpen = 256

// put keeps a batch in ascending order and returns the list.
func put(batches []Batch, b Batch) []Batch {
	i, found := find(batches, b.Time)
	if found {
		batches[i] = b
		return batches
	}
	batches = slices.Insert(batches, i, b)
	if len(batches) > maxOpen {
		batches = slices.Delete(batches, 0, 1)
	}
	return batches
}

func remove(batches []Batch, t dstream.Time) []Batch {
	if i, found := find(batches, t); found {
		return slices.Delete(batches, i, i+1)
	}
	return batches
}

func find(batches []Batch, t dstream.Time) (int, bool) {
	return slices.BinarySearchFunc(batches, t, func(b Batch, t dstream.Time) int { return cmp.Compare(b.Time, t) })
}

// Batch returns what is known of one batch; false if nothing is.
func (s *Store) Batch(t dstream.Time) (Batch, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, open := range [][]Batch{s.running, s.waiting} {
		if i, found := find(open, t); found {
			return open[i].copied(), true
		}
	}
	for _, b := range s.completed {
		if b.Time == t {
			return b, true
		}
	}
	return Batch{}, false
}

// copied has outputs of its own: those of a batch that runs change.
func (b Batch) copied() Batch {
	b.Outputs = slices.Clone(b.Outputs)
	return b
}

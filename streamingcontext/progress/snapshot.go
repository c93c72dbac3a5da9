package progress

import (
	"slices"
	"time"

	"github.com/leat-io/leat/streamingcontext"
)

// A Snapshot is what a Store knows at one moment. It is the reader's own.
type Snapshot struct {
	App      string
	Interval time.Duration
	Started  int64 // when the context did, by its clock, in milliseconds; streamingcontext.Unknown before
	Now      int64 // by the same clock
	Totals
	// Waiting, Running and Completed are the batches, newest first.
	Waiting, Running, Completed []Batch
	Inputs                      []Input    // in the order declared
	Receivers                   []Receiver // ascending by stream
	// Overload is what the context told last of batches that wait for more than an interval; nil while they do not. It must
	// not be changed.
	Overload *streamingcontext.OverloadInfo
}

// An Input is what is known of an input stream.
type Input struct {
	Stream   int
	Name     string // as in "Socket stream [0]"
	Records  int64  // of batches that have started
	Receiver bool   // has one
	Active   bool   // it runs
}

// Snapshot returns what the store knows now.
//
// Cost: a copy of the batches it holds, without their outputs.
func (s *Store) Snapshot() Snapshot {
	operations := s.Operations()
	s.mu.RLock()
	defer s.mu.RUnlock()
	snap := Snapshot{
		App: s.opts.App, Interval: s.opts.Interval, Started: s.started, Now: s.now(), Totals: s.totals,
		Waiting: newestFirst(s.waiting), Running: newestFirst(s.running), Completed: newestFirst(s.completed),
		Receivers: slices.Clone(s.receivers), Overload: s.overload,
	}
	for i, b := range snap.Running {
		snap.Running[i] = b.copied()
	}
	for _, op := range operations {
		if op.Name != "" {
			snap.Inputs = append(snap.Inputs, Input{Stream: len(snap.Inputs), Name: op.Name})
		}
	}
	for _, r := range s.receivers {
		for len(snap.Inputs) <= r.Stream {
			snap.Inputs = append(snap.Inputs, Input{Stream: len(snap.Inputs)})
		}
		in := &snap.Inputs[r.Stream]
		in.Name, in.Receiver, in.Active = r.Name, true, r.Active
	}
	for i, n := range s.inputs {
		if i == len(snap.Inputs) {
			snap.Inputs = append(snap.Inputs, Input{Stream: i})
		}
		snap.Inputs[i].Records = n
	}
	return snap
}

func newestFirst(batches []Batch) []Batch {
	batches = slices.Clone(batches)
	slices.SortStableFunc(batches, func(a, b Batch) int {
		switch {
		case a.Time > b.Time:
			return -1
		case a.Time < b.Time:
			return 1
		}
		return 0
	})
	return batches
}

// LastCompleted returns the completed batch with the latest time, of those that could be generated; false if there is
// none.
func (s Snapshot) LastCompleted() (Batch, bool) {
	for _, b := range s.Completed {
		if b.Submitted != streamingcontext.Unknown {
			return b, true
		}
	}
	return Batch{}, false
}

// LastReceived returns the batch with the latest time, whatever its status; false if there is none.
func (s Snapshot) LastReceived() (last Batch, ok bool) {
	for _, batches := range [][]Batch{s.Waiting, s.Running, s.Completed} {
		if len(batches) > 0 && (!ok || batches[0].Time > last.Time) {
			last, ok = batches[0], true
		}
	}
	return last, ok
}

// ActiveReceivers returns how many receivers run.
func (s Snapshot) ActiveReceivers() int {
	n := 0
	for _, r := range s.Receivers {
		if r.Active {
			n++
		}
	}
	return n
}

// Retained returns all batches that have received something: those that have completed, run or wait, oldest first.
func (s Snapshot) Retained() []Batch {
	all := newestFirst(slices.Concat(s.Completed, s.Running, s.Waiting))
	slices.Reverse(all)
	return all
}

// Uptime returns how long ago the context started; 0 before that.
func (s Snapshot) Uptime() time.Duration {
	if s.Started == streamingcontext.Unknown {
		return 0
	}
	return time.Duration(s.Now-s.Started) * time.Millisecond
}

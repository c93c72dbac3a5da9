package progress

import (
	"cmp"
	"slices"

	"github.com/leat-io/leat/streamingcontext"
)

// How a Store hears of batches and receivers. Events may be missing: what is not known is passed over.

func (s *Store) streamingStarted(at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = at
	s.waiting, s.running = nil, nil // of a context whose term has ended: it will not tell
}

func (s *Store) overloaded(o streamingcontext.OverloadInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overload = &o
	if o.Phase == streamingcontext.OverloadOver {
		s.overload = nil
	}
}

func (s *Store) batchSubmitted(b streamingcontext.BatchInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = put(s.waiting, Batch{BatchInfo: b, Status: Queued})
}

func (s *Store) batchStarted(b streamingcontext.BatchInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = remove(s.waiting, b.Time)
	s.running = put(s.running, Batch{BatchInfo: b, Status: Processing}.copied())
	s.totals.ReceivedRecords += b.Records()
	for _, in := range b.Inputs {
		if in.Stream < 0 || in.Stream > maxInputs {
			continue
		}
		for len(s.inputs) <= in.Stream {
			s.inputs = append(s.inputs, 0)
		}
		s.inputs[in.Stream] += in.Records
	}
}

// maxInputs bounds the inputs that are counted one by one.
const maxInputs = 10_000

func (s *Store) batchCompleted(b streamingcontext.BatchInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting, s.running = remove(s.waiting, b.Time), remove(s.running, b.Time)
	s.retain(Batch{BatchInfo: b, Status: Completed})
	s.totals.ProcessedRecords += b.Records()
}

// retain takes a batch that has ended. mu is held.
func (s *Store) retain(done Batch) {
	if len(s.completed) < s.opts.RetainedBatches {
		s.completed = append(s.completed, done)
	} else {
		s.completed[s.next] = done
		s.next = (s.next + 1) % len(s.completed)
	}
	s.totals.CompletedBatches++
	if done.Failed() {
		s.totals.FailedBatches++
	}
}

// batchSetAside marks a batch that has completed, or takes note of one that could not be generated: nothing was
// told of that before.
func (s *Store) batchSetAside(b streamingcontext.SetAsideBatch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.totals.SetAsideBatches++
	for i := range s.completed {
		if s.completed[i].Time == b.Time {
			if !s.completed[i].Failed() {
				s.totals.FailedBatches++
			}
			s.completed[i].SetAside = b.Err
			return
		}
	}
	if len(b.Outputs) > 0 {
		return // forgotten since
	}
	s.retain(Batch{Status: Completed, SetAside: b.Err, BatchInfo: streamingcontext.BatchInfo{Time: b.Time, ID: b.ID, Inputs: b.Inputs,
		Submitted: streamingcontext.Unknown, Started: streamingcontext.Unknown, Ended: streamingcontext.Unknown}})
}

func (s *Store) output(o streamingcontext.OutputInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, found := find(s.running, o.Batch); found {
		if outputs := s.running[i].Outputs; o.ID >= 0 && o.ID < len(outputs) {
			outputs[o.ID] = o
		}
	}
}

func (s *Store) dropped(events int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.totals.DroppedEvents += int64(events)
}

// A Receiver is what is known of the receiver of an input.
type Receiver struct {
	streamingcontext.ReceiverInfo
	Starts int64 // how often it was started
	Errors int64 // that it reported, or ended with
}

func (s *Store) receiverStarted(r streamingcontext.ReceiverInfo) {
	s.receiver(r, func(known *Receiver) { known.Starts++ })
}

func (s *Store) receiverError(r streamingcontext.ReceiverInfo) {
	s.receiver(r, func(known *Receiver) { known.Errors++ })
}

// receiverStopped counts an error only if the receiver ended with it.
func (s *Store) receiverStopped(r streamingcontext.ReceiverInfo) {
	s.receiver(r, func(known *Receiver) {
		if r.LastError != nil && (known.LastError == nil || known.LastErrorAt != r.LastErrorAt ||
			known.LastError.Error() != r.LastError.Error()) {
			known.Errors++
		}
	})
}

func (s *Store) receiver(r streamingcontext.ReceiverInfo, count func(known *Receiver)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := slices.BinarySearchFunc(s.receivers, r.Stream, func(r Receiver, stream int) int { return cmp.Compare(r.Stream, stream) })
	if !found {
		if len(s.receivers) >= maxInputs {
			return
		}
		s.receivers = slices.Insert(s.receivers, i, Receiver{})
	}
	count(&s.receivers[i])
	s.receivers[i].ReceiverInfo = r
}

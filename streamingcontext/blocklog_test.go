package streamingcontext

import (
	"slices"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/receivers"
)

// newReceived returns a stream of a block log, without a receiver.
func newReceived() *received[int] {
	log := &blockLog{limit: 1000}
	tracker := &receiverTracker{}
	s := &received[int]{log: log, id: 1, tracker: tracker, state: tracker.add(1, "", "")}
	log.add(s)
	return s
}

// put stores a block with one record, its id.
func (s *received[T]) put(t *testing.T, id receivers.BlockID, record T) {
	t.Helper()
	if err := s.Put(t.Context(), receivers.Block[T]{Stream: 1, ID: id, Records: []T{record}}); err != nil {
		t.Fatal(err)
	}
}

// want checks the blocks of a batch.
func (s *received[T]) want(t *testing.T, at dstream.Time, ids ...receivers.BlockID) {
	t.Helper()
	var got []receivers.BlockID
	for _, b := range s.batch(at).blocks {
		got = append(got, b.id)
	}
	if !slices.Equal(got, ids) {
		t.Errorf("batch %d has blocks %v, want %v", at, got, ids)
	}
}

func TestAllocation_R8(t *testing.T) {
	s := newReceived()
	unallocated := func(want ...receivers.BlockID) {
		t.Helper()
		var got []receivers.BlockID
		for _, b := range s.pending {
			got = append(got, b.id)
		}
		if !slices.Equal(got, want) || (s.log.waiting() != nil) != (len(want) > 0) {
			t.Errorf("blocks %v wait, want %v", got, want)
		}
	}
	s.put(t, 1, 1)
	s.put(t, 2, 2)
	unallocated(1, 2)
	s.log.allocate(1)
	unallocated()
	s.want(t, 1, 1, 2)
	s.log.allocate(2)
	s.want(t, 2)
	s.log.allocate(1)
	s.want(t, 1, 1, 2)
	s.put(t, 3, 3)
	s.log.allocate(2)
	s.want(t, 2)
	unallocated(3)
	s.log.allocate(3)
	s.want(t, 3, 3)
	s.want(t, 4)
}

// Batches are completed in order, so nothing of an open batch is dropped, however many are behind it (R12), and what a
// committed batch held is room again.
func TestBlocksOfAnOpenBatchAreKept_R12(t *testing.T) {
	s := newReceived()
	for at := dstream.Time(1); at <= 10; at++ {
		s.put(t, receivers.BlockID(at), int(at))
		s.log.allocate(at)
	}
	s.log.complete(1)
	s.log.complete(2)
	s.want(t, 1)
	s.want(t, 3, 3)
	s.want(t, 10, 10)
	if s.held != 8 || len(s.batches) != 8 {
		t.Errorf("%d records of %d batches held", s.held, len(s.batches))
	}
}

// What a full log holds back is late for its batch, and that is told; what came in the batch's own interval is not.
func TestHowLongBlocksWereHeldUp(t *testing.T) {
	const interval, block = 1000, 200
	s := newReceived()
	for _, id := range []receivers.BlockID{1000, 1800} {
		s.put(t, id, 0)
	}
	s.log.allocate(2000)
	for _, id := range []receivers.BlockID{1800, 2000} { // the first was cut at 2000
		s.put(t, id, 0)
	}
	s.log.allocate(3000)
	for _, id := range []receivers.BlockID{3400, 2300} {
		s.put(t, id, 0)
	}
	s.log.allocate(4000)
	s.log.allocate(5000)
	for at, want := range map[dstream.Time]time.Duration{2000: 0, 3000: 0, 4000: 500 * time.Millisecond, 5000: 0} {
		held := s.log.heldUp(at, interval+block)
		if want == 0 && len(held) != 0 || want != 0 && !slices.Equal(held, []heldUp{{1, want}}) {
			t.Errorf("batch %d: %v, want %v", at, held, want)
		}
	}
}

package streamingcontext

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// received is the input stream of one receiver and its part of the block log.
//
//	receiver --> supervisor --Put--> pending --allocate--> batches --RDD--> one partition a block
//
// log.mu guards pending, held, room, batches and last.
type received[T any] struct {
	log      *blockLog
	receiver receivers.Receiver[T]
	id       int
	name     string
	info     func() dstream.Info
	tracker  *receiverTracker
	state    *receiverState // of the receiver, with the tracker
	remember dstream.Time   // how long the stream keeps its RDDs; 0 if no output reaches it

	logged  *loggedBlocks[T] // where blocks outlive the process, else nil
	pending []storedBlock[T]
	held    int64         // records pending, or allocated to a batch that is not committed
	room    chan struct{} // closed when held shrinks; nil while nobody waits
	batches []blockBatch[T]
	last    dstream.Time // of the last allocation
}

// storedBlock is a block and where it lies in the log of received blocks, if there is one.
type storedBlock[T any] struct {
	id      receivers.BlockID
	records int64
	rows    []T // nil where they have to be read from the log: another process received them
	logged  receivedlog.Address
}

// blockBatch is the blocks of one batch. Batches without blocks have none.
type blockBatch[T any] struct {
	time    dstream.Time
	blocks  []storedBlock[T]
	records int64
	at      []string // the executor the receiver was placed on, nil where it makes no difference
}

// Put keeps block for the next batch, on disk first where it outlives the process. While too many records of the stream are not
// processed yet it waits, and with it the generator, then the receiver.
func (s *received[T]) Put(ctx context.Context, block receivers.Block[T]) error {
	stored := storedBlock[T]{id: block.ID, records: block.Count(), rows: block.Records}
	if s.logged == nil {
		return s.keep(ctx, stored, nil, nil)
	}
	s.logged.order.Lock()
	defer s.logged.order.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return s.keep(ctx, stored, cancel, func() (receivedlog.Address, error) {
		return s.logged.append(ctx, int32(s.id), block)
	})
}

// keep adds a block to those that wait for a batch, once there is room and after store, which says where it lies; nil where it is
// only kept in memory, and which giveUp ends.
func (s *received[T]) keep(ctx context.Context, block storedBlock[T], giveUp context.CancelFunc, store func() (receivedlog.Address, error)) error {
	for {
		s.log.mu.Lock()
		if s.log.closed {
			s.log.mu.Unlock()
			// The context stops at once and the block is lost. A receiver that waits for the
			// acknowledgement learns it from Dropping; the generator has nobody to tell.
			return ctx.Err()
		}
		if s.held == 0 || s.held+block.records <= s.log.limit {
			break
		}
		if s.room == nil {
			s.room = make(chan struct{})
		}
		room := s.room
		s.log.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.held += block.records // the room is taken before the disk is waited for
	if s.logged != nil {
		s.logged.begin(giveUp)
	}
	s.log.mu.Unlock()
	var err error
	if store != nil {
		block.logged, err = store()
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if s.logged != nil {
		s.logged.appending, s.logged.giveUp = false, nil
	}
	if err != nil {
		s.held -= block.records
		s.releaseHeld()
		return err
	}
	s.pending = append(s.pending, block)
	return nil
}

// Dropping reports whether what Put takes is lost, since the context stops at once.
func (s *received[T]) Dropping() bool {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.closed
}

// RDD returns the blocks of batch t, one a partition. All of them prefer the executor of the receiver: those stored before it
// moved have lost theirs.
func (s *received[T]) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[T], error) {
	b := s.batch(t)
	rows := make([][]T, len(b.blocks))
	for i, block := range b.blocks {
		if rows[i] = block.rows; rows[i] == nil {
			return s.logged.rdd(c, b.blocks), nil
		}
	}
	if b.at == nil {
		return rdd.FromBlocks(c, rows), nil
	}
	return rdd.FromBlocksAt(c, rows, func(int) []string { return b.at }), nil
}

// Report returns how many records batch t has.
func (s *received[T]) Report(t dstream.Time) (records int64, description string, ok bool) {
	return s.batch(t).records, "", true
}

// Hold is told that batch t has no blocks: none were given to it, and they wait.
func (s *received[T]) Hold(dstream.Time) {}

func (s *received[T]) batch(t dstream.Time) blockBatch[T] {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if i := s.from(t); i < len(s.batches) && s.batches[i].time == t {
		return s.batches[i]
	}
	return blockBatch[T]{}
}

// from returns the index of the first batch at t or later.
func (s *received[T]) from(t dstream.Time) int {
	return sort.Search(len(s.batches), func(i int) bool { return s.batches[i].time >= t })
}

func (s *received[T]) stream() int { return s.id }

// settle asks now: the graph's lock may be held by whoever waits for the log's.
func (s *received[T]) settle() { s.remember = dstream.Time(s.info().Remember.Milliseconds()) }

func (s *received[T]) describe(t dstream.Time, buf []byte) []byte {
	b := s.batch(t)
	ids := make([]receivers.BlockID, len(b.blocks))
	for i, block := range b.blocks {
		ids[i] = block.id
	}
	return appendBlocks(buf, ids, b.records)
}

func (s *received[T]) allocateHeld(t dstream.Time) {
	if t <= s.last {
		return
	}
	s.last = t
	if len(s.pending) == 0 {
		return
	}
	b := blockBatch[T]{time: t}
	if at := s.tracker.preferred(s.state); at != "" {
		b.at = []string{string(at)}
	}
	b.blocks = slices.Clone(s.pending)
	for _, block := range b.blocks {
		b.records += block.records
	}
	clear(s.pending) // the batch alone keeps the records alive
	s.pending = s.pending[:0]
	s.batches = append(s.batches, b)
	if s.logged != nil {
		s.logged.allocated(b.time, b.blocks)
	}
}

// oldestHeld returns the least id of batch t's blocks, which is a time.
func (s *received[T]) oldestHeld(t dstream.Time) (ms int64, ok bool) {
	i := s.from(t)
	if i == len(s.batches) || s.batches[i].time != t {
		return 0, false
	}
	oldest := slices.MinFunc(s.batches[i].blocks, func(a, b storedBlock[T]) int { return cmp.Compare(a.id, b.id) })
	return int64(oldest.id), true
}

func (s *received[T]) waitingHeld() bool { return len(s.pending) > 0 }

func (s *received[T]) completeHeld(t dstream.Time) {
	if i := s.from(t); i < len(s.batches) && s.batches[i].time == t {
		s.held -= s.batches[i].records
		s.releaseHeld()
	}
	if s.log.keep {
		return
	}
	// A stream that no output reaches remembers nothing: its blocks go with their batch.
	gone := s.from(t - s.remember + 1)
	if gone == 0 {
		return
	}
	kept := copy(s.batches, s.batches[gone:])
	clear(s.batches[kept:])
	s.batches = s.batches[:kept]
}

func (s *received[T]) releaseHeld() {
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
	if s.log.closed && s.logged != nil && s.logged.giveUp != nil {
		s.logged.giveUp()
	}
}

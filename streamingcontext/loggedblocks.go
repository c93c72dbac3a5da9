package streamingcontext

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// loggedBlocks is one stream's part of the log of received blocks.
//
// A block is in the log before it is acknowledged. The Begin of a batch says which blocks it has; those behind the last that any
// batch has are for the next one.
type loggedBlocks[T any] struct {
	durable *durable // has the log, from when the context leads
	codec   *codec.Codec[T]
	order   sync.Mutex // held while a block is appended and added: blocks wait in the order in which they lie
	// process is where the log ended when the process began to append to it. Ids of blocks are from the clock, which may stand still or go
	// back: what another process has stored is another block all the same. Guarded by order, as is begun.
	process receivedlog.Address
	begun   bool

	// Guarded by the block log's mu.
	last   receivedlog.Address // the last block that a batch has
	firsts []firstBlock        // of batches that may have to be made again, by time
	// While a block is appended, and its place not known: where the log ended before.
	appending bool
	floor     receivedlog.Address
	giveUp    context.CancelFunc // ends the append, which may wait for other machines
}

// firstBlock is the first block of a batch.
type firstBlock struct {
	time dstream.Time
	at   receivedlog.Address
}

func newLoggedBlocks[T any](d *durable) (*loggedBlocks[T], error) {
	c, err := codec.For[T]()
	return &loggedBlocks[T]{durable: d, codec: c}, err
}

// append makes a block durable.
func (l *loggedBlocks[T]) append(ctx context.Context, stream int32, block receivers.Block[T]) (receivedlog.Address, error) {
	data, err := l.codec.Append(nil, block.Records)
	if err != nil {
		return receivedlog.Address{}, fmt.Errorf("block %d: %w", block.ID, err)
	}
	log := l.durable.blocks
	if !l.begun {
		l.process, l.begun = log.End(), true
	}
	meta := binary.AppendVarint(nil, int64(block.ID))
	meta = binary.AppendUvarint(meta, uint64(block.Count()))
	return log.Append(ctx, stream, data, l.process.Append(meta))
}

// begin takes note that a block will lie behind the end of the log.
func (l *loggedBlocks[T]) begin(giveUp context.CancelFunc) {
	l.appending, l.floor, l.giveUp = true, l.durable.blocks.End(), giveUp
}

// known returns an error for the address of a block that this context cannot find.
func (l *loggedBlocks[T]) known(a receivedlog.Address) error {
	if a.Epoch > 0 && !l.durable.copied {
		return fmt.Errorf("%w: %v", ErrBlocksElsewhere, a)
	}
	return nil
}

// allocated takes note of the blocks that a batch has.
func (l *loggedBlocks[T]) allocated(t dstream.Time, blocks []storedBlock[T]) {
	if len(blocks) == 0 {
		return
	}
	l.last = blocks[len(blocks)-1].logged
	l.firsts = append(l.firsts, firstBlock{t, blocks[0].logged})
}

// rdd returns the blocks of a batch, one a partition, those that are not in memory read from the log.
func (l *loggedBlocks[T]) rdd(c *rdd.Context, blocks []storedBlock[T]) *rdd.RDD[T] {
	parts := make([]int, len(blocks))
	for i := range parts {
		parts[i] = i
	}
	return fromParts(c, parts, func(_ context.Context, part int) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			rows, err := l.rows(&blocks[part])
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	})
}

// rows returns the records of a block.
func (l *loggedBlocks[T]) rows(b *storedBlock[T]) ([]T, error) {
	if b.rows != nil {
		return b.rows, nil
	}
	data, err := l.durable.blocks.Read(b.logged)
	if err != nil {
		return nil, err
	}
	rows, err := l.codec.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("block %d at %v: %w", b.id, b.logged, err)
	}
	return rows, nil
}

// Record returns where the blocks of batch t lie; nil where it has none. Where blocks are gone with the process there is nothing to
// say.
func (s *received[T]) Record(t dstream.Time) ([]byte, error) {
	b := s.batch(t)
	if s.logged == nil || len(b.blocks) == 0 {
		return nil, nil
	}
	buf := []byte{inputVersion}
	buf = binary.AppendUvarint(buf, uint64(len(b.blocks)))
	for _, block := range b.blocks {
		buf = binary.AppendVarint(buf, int64(block.id))
		buf = binary.AppendUvarint(buf, uint64(block.records))
		buf = block.logged.Append(buf)
	}
	return buf, nil
}

// Replay says that batch t has the recorded blocks.
func (s *received[T]) Replay(t dstream.Time, recorded []byte) error {
	if len(recorded) == 0 {
		return nil
	}
	if recorded[0] != inputVersion {
		return fmt.Errorf("%w: blocks of version %d", ErrDamaged, recorded[0])
	}
	r := varintReader{rest: recorded[1:]}
	b := blockBatch[T]{time: t}
	for n := r.number(); n > 0 && !r.bad; n-- {
		block := storedBlock[T]{id: receivers.BlockID(r.signed()), records: int64(r.number())}
		var err error
		if block.logged, r.rest, err = receivedlog.DecodeAddress(r.rest); err != nil {
			return fmt.Errorf("%w: blocks: %w", ErrDamaged, err)
		}
		if err := s.logged.known(block.logged); err != nil {
			return err
		}
		b.blocks = append(b.blocks, block)
		b.records += block.records
	}
	if r.bad || len(r.rest) > 0 {
		return fmt.Errorf("%w: blocks", ErrDamaged)
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.batches = append(s.batches, b)
	s.last = t
	s.logged.allocated(t, b.blocks)
	return nil
}

// Save returns the last block that a batch has.
func (s *received[T]) Save() ([]byte, error) {
	if s.logged == nil {
		return nil, nil
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.logged.last.Append([]byte{inputVersion}), nil
}

// Load is told what Save returned.
func (s *received[T]) Load(data []byte) error {
	if len(data) == 0 || data[0] != inputVersion {
		return fmt.Errorf("%w: last block", ErrDamaged)
	}
	last, rest, err := receivedlog.DecodeAddress(data[1:])
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("%w: last block: %w", ErrDamaged, err)
	}
	if err := s.logged.known(last); err != nil {
		return err
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.logged.last = last
	return nil
}

func (s *received[T]) recoverHeld() func(receivedlog.Entry) error {
	last := s.logged.last
	type stored struct {
		id      receivers.BlockID
		process receivedlog.Address
	}
	known := map[stored]bool{}
	return func(e receivedlog.Entry) error {
		if e.Address.Compare(last) <= 0 {
			return nil
		}
		r := varintReader{rest: e.Meta}
		block := storedBlock[T]{id: receivers.BlockID(r.signed()), records: int64(r.number()), logged: e.Address}
		process, rest, err := receivedlog.DecodeAddress(r.rest)
		if r.bad || err != nil || len(rest) > 0 {
			return fmt.Errorf("%w: %v", ErrDamaged, e.Address)
		}
		if known[stored{block.id, process}] {
			return nil // it was put again after an error, though it had become durable
		}
		known[stored{block.id, process}] = true
		s.pending = append(s.pending, block)
		s.held += block.records
		return nil
	}
}

func (s *received[T]) neededHeld(from dstream.Time) (lowest receivedlog.Address, any bool) {
	n := 0
	for n < len(s.logged.firsts) && s.logged.firsts[n].time < from {
		n++
	}
	s.logged.firsts = append(s.logged.firsts[:0], s.logged.firsts[n:]...)
	switch {
	case len(s.logged.firsts) > 0:
		return s.logged.firsts[0].at, true
	case len(s.pending) > 0:
		return s.pending[0].logged, true
	case s.logged.appending:
		return s.logged.floor, true
	}
	return receivedlog.Address{}, false
}

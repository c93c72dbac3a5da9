package receivers

import (
	"context"
	"errors"
	"fmt"
)

// UnknownCount is the record count of a block whose records were not counted.
const UnknownCount int64 = -1

// ErrEncodedUnsupported is returned by StoreEncoded when the block store takes only records.
var ErrEncodedUnsupported = errors.New("receivers: block store takes no encoded blocks")

// EncodedBlock is a block that arrived from its source in encoded form and is stored as it is.
type EncodedBlock struct {
	Stream  int32   // the input stream the records belong to
	ID      BlockID // unique within the stream, among blocks of either kind
	Payload []byte  // the encoded records; never empty
}

// Count returns [UnknownCount]: nobody has decoded the payload.
func (b EncodedBlock) Count() int64 { return UnknownCount }

// EncodedBlocks is the further power of a [Blocks] that also takes encoded blocks.
type EncodedBlocks interface {
	// PutEncoded is Put for a block in encoded form. It owns block.Payload afterwards.
	PutEncoded(ctx context.Context, block EncodedBlock) error
}

// EncodedSink is the further power of a [Sink] that also takes encoded blocks. The sink of a supervisor has it; a
// receiver finds it by assertion.
type EncodedSink interface {
	// StoreEncoded is StoreBlock for a payload that is already encoded. It returns [ErrEncodedUnsupported] when the
	// block store is no [EncodedBlocks]. The sink owns payload afterwards.
	StoreEncoded(ctx context.Context, payload []byte) error
}

// StoreEncoded stores payload as one block of unknown record count.
func (s *attemptSink[T]) StoreEncoded(ctx context.Context, payload []byte) error {
	if s.closed.Load() {
		return ErrSinkClosed
	}
	encoded, ok := s.sup.blocks.(EncodedBlocks)
	if !ok {
		return fmt.Errorf("store block of stream %d: %w", s.sup.stream, ErrEncodedUnsupported)
	}
	if len(payload) == 0 {
		return nil
	}
	block := EncodedBlock{Stream: s.sup.stream, ID: s.sup.ids.next(s.sup.clock.Now()), Payload: payload}
	if err := encoded.PutEncoded(ctx, block); err != nil {
		return fmt.Errorf("store block %d of stream %d: %w", block.ID, block.Stream, err)
	}
	return nil
}

package executor

import (
	"errors"
	"fmt"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// Held is a block as an executor holds it: as bytes if Data is not nil, else as it is.
type Held struct {
	Block lineage.Block
	Data  []byte
	// note is what is to be known besides: the memory a block takes, about, or the CRC32C of bytes. There is one for
	// each bucket, so they share the room.
	note int64
}

// HeldBytes returns a block as bytes whose CRC32C was sum when they were made.
func HeldBytes(data []byte, sum uint32) Held {
	if data == nil {
		data = []byte{}
	}
	return Held{Data: data, note: int64(sum)}
}

// hold returns a block as it is.
func hold(codec lineage.Codec, b lineage.Block) Held {
	h := Held{Block: b, note: 1}
	if codec != nil {
		h.note = max(codec.Size(b), 1)
	}
	return h
}

// Size returns how many bytes of memory it takes, about.
func (h Held) Size() int64 {
	if h.Data != nil {
		return int64(len(h.Data))
	}
	return h.note
}

func (h Held) sum() uint32 { return uint32(h.note) }

// encoded returns the block that h holds as bytes.
func (h Held) encoded(what string, codec lineage.Codec) (Held, error) {
	if h.Data != nil {
		return h, nil
	}
	data, err := encode(what, codec, h.Block)
	if err != nil {
		return Held{}, err
	}
	return HeldBytes(data, sumOf(data)), nil
}

// encode turns a block into bytes that are never nil.
func encode(what string, codec lineage.Codec, b lineage.Block) ([]byte, error) {
	if codec == nil {
		return nil, &scheduler.CodecError{Doing: "encode " + what, Err: errors.New("there is no codec for its type")}
	}
	data, err := codec.Encode(b)
	if err != nil {
		return nil, &scheduler.CodecError{Doing: "encode " + what, Err: err}
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// open returns the block that h holds.
//
// Errors: errDamaged if the bytes have changed.
func (h Held) open(codec lineage.Codec) (lineage.Block, error) {
	if h.Data == nil {
		return h.Block, nil
	}
	if sumOf(h.Data) != h.sum() {
		return nil, fmt.Errorf("decode block of %d bytes: %w", len(h.Data), errDamaged)
	}
	if codec == nil {
		return nil, errors.New("decode block: there is no codec for its type")
	}
	b, err := codec.Decode(h.Data)
	if err != nil {
		return nil, fmt.Errorf("decode block of %d bytes: %w", len(h.Data), err)
	}
	return b, nil
}

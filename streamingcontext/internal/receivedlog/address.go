package receivedlog

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
)

// An Address is where a record lies in the log. The zero Address is that of no record and before all others.
type Address struct {
	// Epoch says whose log it is, where drivers of several epochs have one each and copies of the others'. A Log knows of none: it is zero in
	// what a Log returns, and must be in what it is given.
	Epoch   uint64
	Stream  int32
	Segment uint64 // from 1
	Offset  int64  // of the record in its segment
	Length  uint32 // of the block in bytes
	Sum     uint32 // of the record: another one in the same place is noticed
}

// Compare orders addresses by epoch and then by their place in the log.
func (a Address) Compare(b Address) int {
	if c := cmp.Compare(a.Epoch, b.Epoch); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Segment, b.Segment); c != 0 {
		return c
	}
	return cmp.Compare(a.Offset, b.Offset)
}

// String returns the place and the stream.
func (a Address) String() string {
	if a.Epoch > 0 {
		return fmt.Sprintf("epoch %d %s byte %d (stream %d, %d bytes)", a.Epoch, segmentName(a.Segment), a.Offset, a.Stream, a.Length)
	}
	return fmt.Sprintf("%s byte %d (stream %d, %d bytes)", segmentName(a.Segment), a.Offset, a.Stream, a.Length)
}

// Append returns dst with the encoding of a behind it: stream, segment, offset and length as unsigned varints, the
// stream as zigzag, then the sum in four bytes, little-endian. It has 16 bytes or less in a log of less than two million segments
// of 256 MiB. With an epoch 2^32 is added to the encoded stream, and the epoch follows it.
func (a Address) Append(dst []byte) []byte {
	if a.Epoch > 0 {
		dst = binary.AppendUvarint(dst, hasEpoch|uint64(uint32(a.Stream<<1)^uint32(a.Stream>>31)))
		dst = binary.AppendUvarint(dst, a.Epoch)
	} else {
		dst = binary.AppendVarint(dst, int64(a.Stream))
	}
	dst = binary.AppendUvarint(dst, a.Segment)
	dst = binary.AppendUvarint(dst, uint64(a.Offset))
	dst = binary.AppendUvarint(dst, uint64(a.Length))
	return binary.LittleEndian.AppendUint32(dst, a.Sum)
}

// hasEpoch is added to the encoded stream of an address with an epoch. No stream alone is as large.
const hasEpoch = 1 << 32

// DecodeAddress returns the Address at the beginning of data and what follows it. One address has one encoding.
//
// Errors: *AddressError.
func DecodeAddress(data []byte) (a Address, rest []byte, err error) {
	whole := data
	next := func(field string, most uint64) uint64 {
		v, n := binary.Uvarint(data)
		if n <= 0 || v > most {
			if err == nil {
				err = &AddressError{field}
			}
			return 0
		}
		data = data[n:]
		return v
	}
	stream := next("stream", hasEpoch|math.MaxUint32)
	if stream&hasEpoch != 0 {
		a.Epoch = next("epoch", math.MaxUint64)
	}
	a.Stream = int32(uint32(stream)>>1 ^ -uint32(stream&1))
	a.Segment = next("segment", math.MaxUint64)
	a.Offset = int64(next("offset", math.MaxInt64))
	a.Length = uint32(next("length", math.MaxUint32))
	if err == nil && len(data) < 4 {
		err = &AddressError{"sum"}
	}
	if err != nil {
		return Address{}, nil, err
	}
	a.Sum = binary.LittleEndian.Uint32(data)
	rest = data[4:]
	if n := len(whole) - len(rest); len(a.Append(nil)) != n {
		return Address{}, nil, &AddressError{"a number is longer than it need be"}
	}
	return a, rest, nil
}

package receivedlog

import (
	"encoding/binary"
	"hash/crc32"
)

// Lengths of the header of a segment and of a record, see the package comment.
const (
	segmentHeader = 40
	recordHeader  = 28
)

const recordMark = "\xf1rcv"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is the header of a record and where it was found.
type record struct {
	segment uint64
	offset  int64
	sum     uint32
	body    uint32 // checksum of meta and block
	block   uint32 // lengths
	meta    uint32
	stream  int32
	back    uint32
}

// end is where the next record may begin.
func (r record) end() int64 { return r.offset + recordHeader + int64(r.meta) + int64(r.block) }

// group is where the record's group begins.
func (r record) group() int64 { return r.offset - int64(r.back) }

func (r record) address() Address {
	return Address{Stream: r.stream, Segment: r.segment, Offset: r.offset, Length: r.block, Sum: r.sum}
}

// appendRecord returns buf with a record behind it that has no place yet.
func appendRecord(buf []byte, stream int32, body uint32, block, meta []byte) []byte {
	buf = append(buf, recordMark...)
	buf = binary.LittleEndian.AppendUint32(buf, 0) // the sum, see placeRecord
	buf = binary.LittleEndian.AppendUint32(buf, body)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(block)))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(meta)))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(stream))
	buf = binary.LittleEndian.AppendUint32(buf, 0) // the group
	buf = append(buf, meta...)
	return append(buf, block...)
}

// bodySum returns the checksum of meta and block.
func bodySum(block, meta []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, meta), castagnoli, block)
}

// placeRecord tells the header of a record where it will be, back bytes behind the beginning of its group, and returns its
// sum.
func placeRecord(header []byte, segment uint64, offset int64, back int) uint32 {
	binary.LittleEndian.PutUint32(header[24:], uint32(back))
	sum := headerSum(header, segment, offset)
	binary.LittleEndian.PutUint32(header[4:], sum)
	return sum
}

func headerSum(header []byte, segment uint64, offset int64) uint32 {
	var place [16]byte
	binary.LittleEndian.PutUint64(place[:], segment)
	binary.LittleEndian.PutUint64(place[8:], uint64(offset))
	return crc32.Update(crc32.Update(0, castagnoli, place[:]), castagnoli, header[8:recordHeader])
}

// parseRecord returns the record whose header is found at offset of a segment; ok is false if there is none.
func parseRecord(header []byte, segment uint64, offset int64) (r record, ok bool) {
	if len(header) < recordHeader || string(header[:4]) != recordMark {
		return record{}, false
	}
	at := func(i int) uint32 { return binary.LittleEndian.Uint32(header[i:]) }
	r = record{segment: segment, offset: offset, sum: at(4), body: at(8), block: at(12), meta: at(16), stream: int32(at(20)), back: at(24)}
	if r.sum != headerSum(header, segment, offset) || r.block > maxRecord || r.meta > MaxMeta || r.group() < segmentHeader {
		return record{}, false
	}
	return r, true
}

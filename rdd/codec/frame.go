package codec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A frame, see docs/codec.md:
//
//	+-------+---------+-------+-----------+--------------+---------+----------+
//	| magic | version | flags | schema    | rows uvarint | columns | checksum |
//	| 2     | 1       | 1     | 4, little |              |         | 4,little |
//	+-------+---------+-------+-----------+--------------+---------+----------+
const (
	magic0      = 'L'
	magic1      = 'C'
	version     = 1
	headerSize  = 8
	trailerSize = 4

	// maxRows bounds the rows of a frame and the values of each nested column. Rows without content take no bytes, so that
	// nothing else would bound their number, and it must fit an int on every platform.
	maxRows = 1<<31 - 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func schemaOf(name string) uint32 { return crc32.Checksum([]byte(name), castagnoli) }

func appendHeader(dst []byte, schema uint32) []byte {
	dst = append(dst, magic0, magic1, version, 0)
	return binary.LittleEndian.AppendUint32(dst, schema)
}

// appendChecksum ends the frame that starts at dst[start].
func appendChecksum(dst []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// openFrame checks all of a frame but its content and returns a reader placed at the row count.
func openFrame(src []byte, schema uint32) (*reader, error) {
	r := &reader{src: src}
	if len(src) < headerSize+1+trailerSize {
		return nil, r.corrupt(fmt.Sprintf("%d bytes are too few for a frame", len(src)))
	}
	if src[0] != magic0 || src[1] != magic1 {
		return nil, r.corrupt("does not start as a frame")
	}
	// The version comes before the checksum, since another version may place its checksum elsewhere.
	if src[2] != version {
		r.off = 2
		return nil, r.corrupt(fmt.Sprintf("unknown version %d", src[2]))
	}
	body := len(src) - trailerSize
	if got, want := crc32.Checksum(src[:body], castagnoli), binary.LittleEndian.Uint32(src[body:]); got != want {
		r.off = body
		return nil, r.corrupt(fmt.Sprintf("checksum is %08x, content has %08x", want, got))
	}
	if src[3] != 0 {
		r.off = 3
		return nil, r.corrupt(fmt.Sprintf("unknown flags %#x", src[3]))
	}
	if got := binary.LittleEndian.Uint32(src[4:]); got != schema {
		r.off = 4
		return nil, r.corrupt(fmt.Sprintf("frame of another type: schema %08x, want %08x", got, schema))
	}
	r.src, r.off = src[:body], headerSize
	return r, nil
}

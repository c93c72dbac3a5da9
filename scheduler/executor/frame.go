package executor

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// What is on disk is segments of frames. A segment holds the blocks of one bucket, or those of a persisted
// partition, in order, a frame each, and a last frame that says that there are no more:
//
//	length of the bytes, or all ones at the end   8 bytes, big-endian
//	CRC32C of the bytes                           4
//	CRC32C of segment, position, length and sum   4
//	bytes
//
// The second checksum ties a frame to its place, so that a damaged index cannot pass for another
// bucket. A bucket without blocks has no segment.
const (
	frameHeader = 16
	frameEnd    = math.MaxUint64
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // made once by the library

func sumOf(data []byte) uint32 { return crc32.Checksum(data, castagnoli()) }

// header makes the header of frame number at of a segment.
func header(segment, at int, length uint64, sum uint32) [frameHeader]byte {
	var h [frameHeader]byte
	binary.BigEndian.PutUint64(h[:], length)
	binary.BigEndian.PutUint32(h[8:], sum)
	binary.BigEndian.PutUint32(h[12:], placed(segment, at, length, sum))
	return h
}

func placed(segment, at int, length uint64, sum uint32) uint32 {
	var b [28]byte
	binary.BigEndian.PutUint64(b[:], uint64(segment))
	binary.BigEndian.PutUint64(b[8:], uint64(at))
	binary.BigEndian.PutUint64(b[16:], length)
	binary.BigEndian.PutUint32(b[24:], sum)
	return sumOf(b[:])
}

// writeFrame writes a block's bytes and returns how many it wrote.
func writeFrame(w io.Writer, segment, at int, data []byte, sum uint32) (int64, error) {
	h := header(segment, at, uint64(len(data)), sum)
	if _, err := w.Write(h[:]); err != nil {
		return 0, err
	}
	_, err := w.Write(data)
	return frameHeader + int64(len(data)), err
}

// writeEnd ends a segment of so many frames.
func writeEnd(w io.Writer, segment, frames int) (int64, error) {
	h := header(segment, frames, frameEnd, 0)
	_, err := w.Write(h[:])
	return frameHeader, err
}

// readFrames yields the frames of a segment from number first on; r reads nothing else. Up to limit of
// them if that is not negative: the segment need not have an end then. Bytes are checked before they are
// handed on, and lengths before there is room made for them. damage is what is wrong with the segment.
func readFrames(r *io.SectionReader, segment, first, limit int, yield func(Held) error) (damage, stop error) {
	left := r.Size()
	for at := 0; limit < 0 || at < limit; at++ {
		var h [frameHeader]byte
		if left < frameHeader {
			return fmt.Errorf("frame %d of segment %d: %w", at, segment, io.ErrUnexpectedEOF), nil
		}
		if _, err := io.ReadFull(r, h[:]); err != nil {
			return err, nil
		}
		left -= frameHeader
		length, sum := binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint32(h[8:])
		if binary.BigEndian.Uint32(h[12:]) != placed(segment, at, length, sum) {
			return fmt.Errorf("header of frame %d of segment %d: %w", at, segment, errDamaged), nil
		}
		if length == frameEnd {
			if left != 0 {
				return fmt.Errorf("%d bytes behind segment %d: %w", left, segment, errDamaged), nil
			}
			return nil, nil
		}
		if length > uint64(left) {
			return fmt.Errorf("frame %d of segment %d: %w", at, segment, io.ErrUnexpectedEOF), nil
		}
		left -= int64(length)
		if at < first {
			if _, err := r.Seek(int64(length), io.SeekCurrent); err != nil {
				return err, nil
			}
			continue
		}
		data := make([]byte, length)
		if _, err := io.ReadFull(r, data); err != nil {
			return err, nil
		}
		if sumOf(data) != sum {
			return fmt.Errorf("frame %d of segment %d: %w", at, segment, errDamaged), nil
		}
		if err := yield(HeldBytes(data, sum)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// appendIndex appends where segments of such lengths begin and where the last one ends.
func appendIndex(dst []byte, lengths []int64) []byte {
	at := int64(0)
	dst = binary.BigEndian.AppendUint64(dst, 0)
	for _, n := range lengths {
		at += n
		dst = binary.BigEndian.AppendUint64(dst, uint64(at))
	}
	return dst
}

// lengthsOf returns the lengths of n segments from an index, and their sum, or that it is none of theirs.
func lengthsOf(index []byte, n int) (lengths []int64, total int64, ok bool) {
	if len(index) != 8*(n+1) || binary.BigEndian.Uint64(index) != 0 {
		return nil, 0, false
	}
	lengths = make([]int64, n)
	for i := range lengths {
		end := binary.BigEndian.Uint64(index[8*(i+1):])
		if end > math.MaxInt64 || int64(end) < total {
			return nil, 0, false
		}
		lengths[i], total = int64(end)-total, int64(end)
	}
	return lengths, total, true
}

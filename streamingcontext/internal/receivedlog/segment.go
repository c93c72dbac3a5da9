package receivedlog

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// segment is a file of the log.
type segment struct {
	number  uint64
	end     int64 // how much of it counts; negative: the header that says so is damaged
	damaged bool  // its header is
}

type segments []segment

func (s segments) clone() segments { return slices.Clone(s) }

// find returns where in s the segment with this number is.
func (s segments) find(number uint64) (int, bool) {
	return slices.BinarySearchFunc(s, number, func(seg segment, n uint64) int { return cmp.Compare(seg.number, n) })
}

const (
	segmentMark   = "leatrlog"
	formatVersion = 1
	segmentSuffix = ".log"
)

// appendSegment returns buf with the header of a segment behind it.
func appendSegment(buf []byte, number uint64, before, began int64) []byte {
	from := len(buf)
	buf = append(buf, segmentMark...)
	buf = binary.LittleEndian.AppendUint32(buf, formatVersion)
	buf = binary.LittleEndian.AppendUint64(buf, number)
	buf = binary.LittleEndian.AppendUint64(buf, uint64(before))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(began))
	return binary.LittleEndian.AppendUint32(buf, crc32.Checksum(buf[from:], castagnoli))
}

// parseSegment returns how much of the segment before counts; ok is false if this is no header of the segment.
func parseSegment(header []byte, number uint64) (before int64, version uint32, ok bool) {
	sum := binary.LittleEndian.Uint32(header[segmentHeader-4:])
	if string(header[:8]) != segmentMark || sum != crc32.Checksum(header[:segmentHeader-4], castagnoli) {
		return 0, 0, false
	}
	version = binary.LittleEndian.Uint32(header[8:])
	before = int64(binary.LittleEndian.Uint64(header[20:]))
	return before, version, before >= 0 && (version != formatVersion || binary.LittleEndian.Uint64(header[12:]) == number)
}

func segmentName(number uint64) string { return fmt.Sprintf("%016d%s", number, segmentSuffix) }

// segmentNumber returns the number in a name; ok is false for other files.
func segmentNumber(name string) (number uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil && number > 0 && segmentName(number) == name
}

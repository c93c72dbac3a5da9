package receivedlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// What is needed to keep a copy of a log elsewhere, byte by byte. A record is valid only where it was written, in the copy as in the log, and
// so are the header and every whole record alone.

// HeaderBytes is how many bytes the header of a segment has.
const HeaderBytes = segmentHeader

// RecordBytes returns how many bytes a record has in its segment.
func RecordBytes(block, meta int) int64 { return recordHeader + int64(meta) + int64(block) }

// SegmentName returns the name of a segment's file.
func SegmentName(number uint64) string { return segmentName(number) }

// SegmentNumber returns which segment a file is; ok is false for other files.
func SegmentNumber(name string) (number uint64, ok bool) { return segmentNumber(name) }

// A Part is a stretch of a segment: its header, if From is 0, and whole records.
type Part struct{ From, To int64 }

// A Survey is what was found in the file of a segment.
type Survey struct {
	// Parts are what is whole, in order, with something between each two.
	Parts []Part
	// Before is how many bytes of the segment before count; negative where the header is not whole.
	Before int64
	// Lost is what was durable once and is no more: a whole record of a later group follows. What else is not in Parts may be the rest
	// of a write that a crash has interrupted.
	Lost []*DamageError
}

// Look reads the first size bytes of a segment's file and calls visit, if it is not nil, for each whole record. The name is for errors.
//
// Errors: *VersionError; visit's; what the disk answered, with the name.
func Look(in io.ReaderAt, name string, number uint64, size int64, visit func(Entry) error) (Survey, error) {
	s := Survey{Before: -1}
	lost := func(from, to int64, reason string) {
		s.Lost = append(s.Lost, &DamageError{File: name, Offset: from, Length: to - from, Reason: reason})
	}
	if size >= segmentHeader {
		var header [segmentHeader]byte
		if err := readFull(in, header[:], 0); err != nil {
			return s, fmt.Errorf("read %s: %w", name, err)
		}
		before, version, ok := parseSegment(header[:], number)
		if ok && version != formatVersion {
			return s, &VersionError{name, version, formatVersion}
		}
		if ok {
			s.Before = before
			s.Parts = []Part{{0, segmentHeader}}
		}
	}
	type gap struct {
		from, to int64
		reason   string
	}
	var torn []gap // which no later group follows, yet
	src := newSource(in, number, size)
	headless := s.Before < 0
	err := eachRecord(src, func(r record) error {
		if headless {
			lost(0, segmentHeader, "damaged header of a segment")
			headless = false
		}
		for len(torn) > 0 && torn[0].from < r.group() {
			lost(torn[0].from, torn[0].to, torn[0].reason)
			torn = torn[1:]
		}
		if n := len(s.Parts); n > 0 && s.Parts[n-1].To == r.offset {
			s.Parts[n-1].To = r.end()
		} else {
			s.Parts = append(s.Parts, Part{r.offset, r.end()})
		}
		if visit == nil {
			return nil
		}
		meta, err := src.meta(r)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		return visit(Entry{r.address(), meta})
	}, func(from, to int64, reason string) { torn = append(torn, gap{from, to, reason}) })
	return s, err
}

// Prefix returns how many of the bytes that lie in a segment from an offset on are to be kept at once: the header, or whole records of one
// group, at most so many bytes, or one record where that is larger. It is 0 where nothing whole begins. Who writes these, and makes them durable before what follows, leaves behind
// in a crash what the log itself would.
func Prefix(number uint64, from int64, data []byte, most int) (n int) {
	if from == 0 {
		if len(data) < segmentHeader {
			return 0
		}
		if _, version, ok := parseSegment(data[:segmentHeader], number); !ok || version != formatVersion {
			return 0
		}
		return segmentHeader
	}
	for n < len(data) {
		r, ok := parseRecord(data[n:], number, from+int64(n))
		size := r.end() - r.offset
		if !ok || size > int64(len(data)-n) || n > 0 && (r.back == 0 || int64(n)+size > int64(most)) ||
			crc32.Checksum(data[n+recordHeader:n+int(size)], castagnoli) != r.body {
			return n
		}
		n += int(size)
	}
	return n
}

// RecordSize returns how many bytes the record has whose header lies at an offset of a segment; ok is false where there is none.
func RecordSize(number uint64, from int64, header []byte) (size int64, ok bool) {
	r, ok := parseRecord(header, number, from)
	return r.end() - r.offset, ok
}

// Durable returns, for each segment that has records, how many of its bytes are durable. They do not change any more.
func (l *Log) Durable() []Extent {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Extent, 0, len(l.segments))
	for _, s := range l.segments {
		if s.end > segmentHeader {
			all = append(all, Extent{s.number, s.end})
		}
	}
	return slices.Clip(all)
}

// An Extent is how far a segment reaches.
type Extent struct {
	Segment uint64
	End     int64
}

// Before returns how many bytes of the segment before count, by the header of a segment that Prefix has found whole.
func Before(header []byte) int64 {
	return int64(binary.LittleEndian.Uint64(header[20:]))
}

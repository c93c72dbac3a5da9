package receivedlog

import (
	"bytes"
	"hash/crc32"
	"io"
)

// windowBytes is how much of a segment is in memory while it is scanned. It holds a record's header and meta.
const windowBytes = 256 << 10

// source reads a segment from its beginning to its end, through a window.
type source struct {
	in      io.ReaderAt
	segment uint64
	size    int64
	window  []byte
	at      int64 // where the window begins
}

func newSource(in io.ReaderAt, segment uint64, size int64) *source {
	return &source{in: in, segment: segment, size: size, window: make([]byte, 0, min(windowBytes, size))}
}

// bytes returns the n bytes at off, fewer at the end. They are valid until the next call.
func (s *source) bytes(off int64, n int) ([]byte, error) {
	n = int(min(int64(n), s.size-off))
	if n <= 0 {
		return nil, nil
	}
	if off < s.at || off+int64(n) > s.at+int64(len(s.window)) {
		fill := s.window[:min(int64(cap(s.window)), s.size-off)]
		got, err := s.in.ReadAt(fill, off)
		if got < len(fill) && err != io.EOF {
			s.window = s.window[:0]
			return nil, err
		}
		s.window, s.at = fill[:got], off
		if got < n { // the file has become shorter since its size was asked
			n = got
		}
	}
	from := off - s.at
	return s.window[from : from+int64(n)], nil
}

// record returns the record at off: parsed tells that its header is whole, good that its body is, too.
func (s *source) record(off int64) (r record, parsed, good bool, err error) {
	header, err := s.bytes(off, recordHeader)
	if err != nil {
		return record{}, false, false, err
	}
	r, parsed = parseRecord(header, s.segment, off)
	if !parsed || r.end() > s.size {
		return r, parsed, false, nil
	}
	sum, at := uint32(0), off+recordHeader
	for at < r.end() {
		part, err := s.bytes(at, int(min(windowBytes, r.end()-at)))
		if err != nil {
			return record{}, false, false, err
		}
		if len(part) == 0 {
			return r, true, false, nil
		}
		sum = crc32.Update(sum, castagnoli, part)
		at += int64(len(part))
	}
	return r, true, sum == r.body, nil
}

// meta returns the meta of a record, a copy.
func (s *source) meta(r record) ([]byte, error) {
	if r.meta == 0 {
		return nil, nil
	}
	part, err := s.bytes(r.offset+recordHeader, int(r.meta))
	return bytes.Clone(part), err
}

// find returns where the next good record at from or behind it begins, the size if there is none.
func (s *source) find(from int64) (int64, error) {
	for from < s.size {
		part, err := s.bytes(from, windowBytes/2)
		if err != nil {
			return 0, err
		}
		i := bytes.Index(part, []byte(recordMark))
		if i < 0 {
			from += max(1, int64(len(part)-len(recordMark)+1))
			continue
		}
		from += int64(i)
		_, _, good, err := s.record(from)
		if err != nil {
			return 0, err
		}
		if good {
			return from, nil
		}
		from++
	}
	return s.size, nil
}

package socket

import (
	"bytes"
	"fmt"
	"io"
)

// readSize is the buffer between connection and lines.
const readSize = 64 << 10

// LineTooLongError says that a line did not end within the longest length allowed.
type LineTooLongError struct {
	Addr   string
	Offset int64 // of the first byte of the line, from the beginning of the connection
	Limit  int   // in bytes
}

// Error returns the address, the offset and the limit.
func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("line at byte %d from %s is longer than %d bytes", e.Offset, e.Addr, e.Limit)
}

// lineReader cuts a stream into lines.
type lineReader struct {
	src    io.Reader
	addr   string
	limit  int
	offset int64 // bytes read from src

	buffer []byte
	rest   []byte // the part of buffer not cut yet
	line   []byte // the beginning of a line that is longer than what was read so far
	wasCR  bool   // the last line ended with \r; a \n that follows belongs to it
	end    error  // what src ended with
}

func newLineReader(src io.Reader, addr string, limit int) *lineReader {
	return &lineReader{src: src, addr: addr, limit: limit, buffer: make([]byte, readSize)}
}

// next returns the next line without its terminator, or the error the stream ended with. A clean end ends the last
// line; a failure does not, since more of the line may have been on its way.
func (r *lineReader) next() (string, error) {
	for {
		if r.wasCR && len(r.rest) > 0 {
			r.wasCR = false
			if r.rest[0] == '\n' {
				r.rest = r.rest[1:]
			}
		}
		begin := r.offset - int64(len(r.rest)) - int64(len(r.line))
		if end := r.terminator(); end >= 0 {
			head := r.rest[:end]
			r.wasCR = r.rest[end] == '\r'
			r.rest = r.rest[end+1:]
			return r.take(head, begin)
		}
		if err := r.fits(len(r.rest), begin); err != nil {
			return "", err
		}
		r.line, r.rest = append(r.line, r.rest...), nil
		if r.end != nil {
			if r.end == io.EOF && len(r.line) > 0 {
				return r.take(nil, begin)
			}
			return "", r.end
		}
		n, err := r.src.Read(r.buffer)
		r.offset += int64(n)
		r.rest, r.end = r.buffer[:n], err
	}
}

// terminator returns the index in rest of the first \n or \r, or -1. Two fast searches beat one slow one.
func (r *lineReader) terminator() int {
	before := r.rest
	lf := bytes.IndexByte(before, '\n')
	if lf >= 0 {
		before = before[:lf]
	}
	if cr := bytes.IndexByte(before, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// take returns the line that began at begin and ends with head.
func (r *lineReader) take(head []byte, begin int64) (string, error) {
	if err := r.fits(len(head), begin); err != nil {
		return "", err
	}
	if len(r.line) == 0 {
		return string(head), nil
	}
	line := string(append(r.line, head...))
	r.line = r.line[:0]
	if cap(r.line) > readSize {
		r.line = nil // one long line must not hold its memory for good
	}
	return line, nil
}

// fits checks that n more bytes do not make the line too long, before they are copied.
func (r *lineReader) fits(n int, begin int64) error {
	if len(r.line)+n > r.limit {
		return &LineTooLongError{Addr: r.addr, Offset: begin, Limit: r.limit}
	}
	return nil
}

package rdd

import (
	"bytes"
	"io"
	"strings"
	"unsafe"
)

// lineBuffer is how much text is read at once. Lines are cut out of it without copying, so a line
// that is kept keeps its buffer: the size bounds what one kept line can hold on to.
const lineBuffer = 256 << 10

// lineReader cuts text into lines. Ends are \n, \r\n and \r; the last line may lack one. A byte order mark at the
// beginning of the file is left out.
type lineReader struct {
	src io.Reader
	// limit is how many bytes of src the reader answers for: lines that begin before it are read to
	// their end, the others are left out. Negative: no limit.
	limit int64
	// skipFirst leaves out what comes before the first line end.
	skipFirst bool
	// base is where src begins in the file.
	base int64
	// track asks for starts.
	track bool
	// starts are the places in the file of the lines that the last call of next appended.
	starts []int64

	buf     []byte // unread text
	at      int64  // offset in src of buf[0]
	ended   bool   // src has no more
	lastCR  bool   // the last line ended with \r at the end of a buffer: a \n that follows belongs to it
	text    string // buf as a string
	noCR    bool   // there is no \r in buf
	failure error
}

// next appends up to a chunk of lines and returns io.EOF, possibly together with lines, at the
// end. The lines of one call come from one buffer.
func (r *lineReader) next(lines []string) ([]string, error) {
	r.starts = r.starts[:0]
	for len(lines) < chunkSize {
		if r.noCR && !r.skipFirst && !r.lastCR {
			lines = r.plainLines(lines)
			if len(lines) == chunkSize {
				break
			}
		}
		if r.lastCR && len(r.buf) > 0 {
			r.lastCR = false
			if r.buf[0] == '\n' {
				r.advance(1)
				continue
			}
		}
		if r.limit >= 0 && r.at >= r.limit {
			return lines, io.EOF
		}
		end, width := r.lineEnd()
		switch {
		case end >= 0:
			if r.skipFirst {
				r.skipFirst = false
			} else {
				lines = r.line(lines, end)
			}
			r.lastCR = width == 1 && r.buf[end] == '\r' && end+1 == len(r.buf)
			r.advance(end + width)
		case !r.ended:
			if len(lines) > 0 {
				return lines, nil // hand over what points into this buffer before the next one is made
			}
			r.fill()
		case r.failure != nil:
			return lines, r.failure
		default:
			if len(r.buf) > 0 && !r.skipFirst {
				lines = r.line(lines, len(r.text))
			}
			r.advance(len(r.buf))
			if r.at < r.limit { // the file was longer when it was cut into splits
				r.failure = io.ErrUnexpectedEOF
				return lines, r.failure
			}
			return lines, io.EOF
		}
	}
	return lines, nil
}

// plainLines is next for text without \r: the loop that matters for speed. It stops at the limit
// and before a line whose end is not in the buffer.
func (r *lineReader) plainLines(lines []string) []string {
	text, at, had := r.text, r.at, len(lines)
	for len(lines) < chunkSize && (r.limit < 0 || at < r.limit) {
		end := strings.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		lines = append(lines, text[:end])
		text = text[end+1:]
		at += int64(end) + 1
	}
	if r.track {
		start := r.place()
		for _, line := range lines[had:] {
			r.starts = append(r.starts, start)
			start += int64(len(line)) + 1
		}
	}
	r.advance(int(at - r.at))
	return lines
}

// line appends the next n bytes as a line.
func (r *lineReader) line(lines []string, n int) []string {
	if r.track {
		r.starts = append(r.starts, r.place())
	}
	return append(lines, r.text[:n])
}

// place is where in the file the unread text begins.
func (r *lineReader) place() int64 { return r.base + r.at }

// lineEnd finds the first line end in the buffer and its width, -1 if there is none.
func (r *lineReader) lineEnd() (at, width int) {
	nl := bytes.IndexByte(r.buf, '\n')
	line := r.buf
	if nl >= 0 {
		line = r.buf[:nl]
	}
	if cr := bytes.IndexByte(line, '\r'); cr >= 0 {
		if cr+1 == nl {
			return cr, 2
		}
		return cr, 1
	}
	if nl < 0 {
		return -1, 0
	}
	return nl, 1
}

func (r *lineReader) advance(n int) {
	r.buf, r.text = r.buf[n:], r.text[n:]
	r.at += int64(n)
}

// fill reads more text behind what is unread, into a new buffer: lines already handed out keep
// the old one as it is.
func (r *lineReader) fill() {
	size := lineBuffer
	if r.limit >= 0 {
		// No more than the split and, most likely, the rest of its last line.
		size = int(min(lineBuffer, r.limit-r.at+4096))
	}
	buf := make([]byte, max(size, 2*len(r.buf)))
	kept := copy(buf, r.buf)
	// No io.ReadFull: its error for a short read is also that of a compressed stream cut short.
	for kept < len(buf) && !r.ended {
		n, err := r.src.Read(buf[kept:])
		kept += n
		if err != nil {
			r.ended = true
			if err != io.EOF {
				r.failure = err
			}
		}
	}
	buf = buf[:kept]
	// A byte order mark is no text; it is one only where a file begins.
	if r.base+r.at == 0 && !r.skipFirst && bytes.HasPrefix(buf, []byte(byteOrderMark)) {
		buf = buf[len(byteOrderMark):]
		if r.at = int64(len(byteOrderMark)); r.limit >= 0 && len(buf) > 0 {
			r.limit = max(r.limit, r.at+1) // the line behind it begins with it: it is this split's
		}
	}
	// The bytes of a filled buffer are never written again, so a string may share them.
	r.buf, r.text = buf, unsafe.String(unsafe.SliceData(buf), len(buf))
	r.noCR = bytes.IndexByte(buf, '\r') < 0
}

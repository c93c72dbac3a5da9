package lines

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unsafe"
)

const (
	// readSize is the buffer between source and lines. The lines of a read that fills half of it share the buffer: a
	// source that sends so much is too fast for copies.
	readSize = 32 << 10
	// pieceSize is about how much text of smaller reads shares one allocation: enough that its cost is shared by some
	// dozens of lines, and not so much that a program which keeps one line of many would feel it.
	pieceSize = 4 << 10
	// idleReads is how many reads in a row may return nothing.
	idleReads = 100
)

// TooLongError says that a line did not end within the longest length allowed.
type TooLongError struct {
	Offset int64 // of the first byte of the line, from the beginning of the stream
	Limit  int   // in bytes
}

// Error returns the offset and the limit.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("line at byte %d is longer than %d bytes", e.Offset, e.Limit)
}

// Reader cuts a stream into lines. Make it with [NewReader]. It belongs to one goroutine.
type Reader struct {
	src    io.Reader
	limit  int
	offset int64 // bytes read from src

	buffer  []byte
	unread  []byte // what was read and not cut yet
	handed  bool   // lines may share the memory of unread
	partial []byte // the beginning of a line whose end was not read yet
	wasCR   bool   // the last line ended with \r; a \n that follows belongs to it
	skip    bool   // the line being read is too long, which was said; the rest of it is dropped
	end     error  // what src ended with
}

// NewReader returns a reader of the lines of src, of at most limit bytes each without the terminator.
func NewReader(src io.Reader, limit int) *Reader { return &Reader{src: src, limit: limit} }

// Offset returns how many bytes were read from the source.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns lines and behind them the lines that the next read completes; it reads on until there is one.
//
// Errors: lines may come with an error, those before it. [*TooLongError]: a further call goes on behind that line.
// [io.EOF] is the end, and ends the last line. Another error of the source does not, since more of the line may have
// been on its way; a further call reads on.
func (r *Reader) Next(lines []string) ([]string, error) {
	had := len(lines)
	for idle := 0; ; {
		if len(r.unread) > 0 {
			text := r.unread
			r.unread = nil
			var err error
			if lines, err = r.cut(lines, text); err != nil || len(lines) > had {
				return lines, err
			}
		}
		if r.end != nil {
			return r.finish(lines)
		}
		if r.buffer == nil {
			r.buffer = make([]byte, readSize)
		}
		n, err := r.src.Read(r.buffer)
		r.offset += int64(n)
		r.unread, r.end = r.buffer[:n], err
		if r.handed = n >= readSize/2; r.handed {
			r.buffer = nil // it is the lines' now, and never written again
		}
		if idle++; n > 0 {
			idle = 0
		}
		if idle >= idleReads && err == nil {
			r.end = io.ErrNoProgress
		}
	}
}

// finish returns what the source ended with, after the last line where it ended well.
func (r *Reader) finish(lines []string) ([]string, error) {
	end := r.end
	if end != io.EOF {
		r.end = nil // the next call asks the source again
		return lines, end
	}
	if len(r.partial) > 0 {
		lines = append(lines, string(r.partial))
		r.partial = nil
	}
	return lines, end
}

// cut appends the lines of text, which was read last, and keeps what is behind the last terminator.
func (r *Reader) cut(lines []string, text []byte) ([]string, error) {
	if r.wasCR {
		r.wasCR = false
		if text[0] == '\n' {
			text = text[1:]
		}
	}
	if r.skip || len(r.partial) > 0 {
		end := terminator(text)
		head := text
		if end >= 0 {
			head = text[:end]
		}
		if err := r.join(head, len(text)); err != nil {
			r.unread = text
			return lines, err
		}
		if end < 0 {
			return lines, nil
		}
		if !r.skip {
			lines = append(lines, string(r.partial))
		}
		r.skip = false
		if r.partial = r.partial[:0]; cap(r.partial) > readSize {
			r.partial = nil // one long line must not hold its memory for good
		}
		text = r.behind(text, end)
	}
	for {
		piece, rest := nextPiece(text)
		if piece == 0 {
			return lines, r.keep(text)
		}
		if r.limit < piece {
			if at := tooLong(text[:piece], r.limit); at >= 0 {
				lines = Cut(lines, r.text(text[:at]))
				r.skip, r.unread = true, text[at:]
				return lines, &TooLongError{Offset: r.offset - int64(len(text)-at), Limit: r.limit}
			}
		}
		lines = Cut(lines, r.text(text[:piece]))
		r.wasCR = piece == len(text) && text[piece-1] == '\r'
		text = text[rest:]
	}
}

// text returns a part of what was read, which nobody writes to any more, as a string.
func (r *Reader) text(part []byte) string {
	if r.handed {
		return unsafe.String(unsafe.SliceData(part), len(part))
	}
	return string(part)
}

// join adds head to the line that is being read, of a text of which left bytes are not cut yet, or drops it.
func (r *Reader) join(head []byte, left int) error {
	if r.skip {
		return nil
	}
	if len(r.partial)+len(head) > r.limit {
		err := &TooLongError{Offset: r.offset - int64(left) - int64(len(r.partial)), Limit: r.limit}
		r.skip, r.partial = true, nil
		return err
	}
	r.partial = append(r.partial, head...)
	return nil
}

// keep keeps the beginning of a line.
func (r *Reader) keep(head []byte) error { return r.join(head, len(head)) }

// behind returns text behind the terminator at end.
func (r *Reader) behind(text []byte, end int) []byte {
	cr := text[end] == '\r'
	text = text[end+1:]
	if cr && len(text) > 0 && text[0] == '\n' {
		return text[1:]
	}
	r.wasCR = cr && len(text) == 0
	return text
}

// nextPiece returns how many bytes of text hold whole lines that may share memory, and where the text behind them begins;
// zeros if no line ends in text.
func nextPiece(text []byte) (piece, rest int) {
	piece = 1 + bytes.LastIndexByte(text[:min(pieceSize, len(text))], '\n')
	if piece == 0 {
		// No line ends with \n early in the text: the longer search.
		at := terminator(text)
		if at < 0 {
			return 0, 0
		}
		piece = at + 1
	}
	rest = piece
	if text[piece-1] == '\r' && piece < len(text) && text[piece] == '\n' {
		rest++
	}
	return piece, rest
}

// tooLong returns where in text, which ends with a terminator, the first line longer than limit begins, -1 for none.
func tooLong(text []byte, limit int) int {
	for at := 0; at < len(text); {
		end := terminator(text[at:])
		if end > limit {
			return at
		}
		cr := text[at+end] == '\r'
		at += end + 1
		if cr && at < len(text) && text[at] == '\n' {
			at++
		}
	}
	return -1
}

// terminator returns the index of the first \n or \r, or -1. Two fast searches beat one slow one.
func terminator(text []byte) int {
	lf := bytes.IndexByte(text, '\n')
	if lf >= 0 {
		text = text[:lf]
	}
	if cr := bytes.IndexByte(text, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// Cut returns lines and behind them those of text, which share its memory.
func Cut(lines []string, text string) []string {
	if strings.IndexByte(text, '\r') < 0 {
		for text != "" {
			end := strings.IndexByte(text, '\n')
			if end < 0 {
				return append(lines, text)
			}
			lines = append(lines, text[:end])
			text = text[end+1:]
		}
		return lines
	}
	for text != "" {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			return append(lines, text)
		}
		lines = append(lines, text[:end])
		if strings.HasPrefix(text[end:], "\r\n") {
			end++
		}
		text = text[end+1:]
	}
	return lines
}

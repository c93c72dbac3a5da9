package peer

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// GrepLines returns how many lines of data contain pattern, looking at one line after another.
func GrepLines(data, pattern []byte) int {
	found := 0
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data)
		if bytes.Contains(line, pattern) {
			found++
		}
	}
	return found
}

// GrepScanner returns how many lines of r contain pattern: GrepLines over a scanner. A carriage
// return before a line feed is not part of the line.
//
// Errors: what r reports, or bufio.ErrTooLong for a line of 1 MB or more, wrapped.
func GrepScanner(r io.Reader, pattern []byte) (int, error) {
	found := 0
	lines := newScanner(r)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), pattern) {
			found++
		}
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("search for %q: %w", pattern, err)
	}
	return found, nil
}

// GrepIndex returns how many lines of data contain pattern, looking for the pattern first and for
// the end of its line then. Lines without it are never told apart, which is as fast as it gets.
//
// Shape: a pattern without a line feed.
func GrepIndex(data, pattern []byte) int {
	found := 0
	for len(data) > 0 {
		at := bytes.Index(data, pattern)
		if at < 0 {
			break
		}
		found++
		_, data = cutLine(data[at:])
	}
	return found
}

// GrepWrite writes the lines of data that contain pattern to w, each ended by a line feed, and
// returns how many there are.
//
// Errors: what w reports, wrapped.
func GrepWrite(w io.Writer, data, pattern []byte) (int, error) {
	found := 0
	out := bufio.NewWriterSize(w, 64<<10)
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data)
		if bytes.Contains(line, pattern) {
			found++
			// A bufio.Writer keeps its first error and Flush returns it.
			out.Write(line)
			out.WriteByte('\n')
		}
	}
	if err := out.Flush(); err != nil {
		return found, fmt.Errorf("write lines with %q: %w", pattern, err)
	}
	return found, nil
}

// cutLine returns the first line of data, without its line feed, and what follows it.
func cutLine(data []byte) (line, rest []byte) {
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		return data[:end], data[end+1:]
	}
	return data, nil
}

package files

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// errNewline is the fault of a row that would be two lines.
var errNewline = errors.New("holds a newline")

// Text returns a sink that writes each row as a line.
//
// Errors: a row that holds a newline is a *RowError.
func Text(dir string) *Sink[string] { return New(dir, Options[string]{Format: TextFormat()}) }

// TextFormat returns the format of Text: rows as they are, each ended by a newline, in files that end with .txt.
func TextFormat() Format[string] {
	return Format[string]{Name: "text", Suffix: ".txt", Lines: true, NewEncoder: func(w io.Writer) (Encoder[string], error) {
		return &textEncoder{w: w}, nil
	}}
}

type textEncoder struct {
	w   io.Writer
	buf []byte
}

func (e *textEncoder) Encode(rows []string) (int, error) {
	e.buf = e.buf[:0]
	for _, row := range rows {
		e.buf = append(append(e.buf, row...), '\n')
	}
	if bytes.Count(e.buf, newline) != len(rows) { // once for all rows: much cheaper than for each
		for i, row := range rows {
			if strings.IndexByte(row, '\n') >= 0 {
				return i, errNewline
			}
		}
	}
	_, err := e.w.Write(e.buf)
	return len(rows), err
}

func (e *textEncoder) Close() error { return nil }

var newline = []byte{'\n'}

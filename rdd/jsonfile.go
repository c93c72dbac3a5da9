package rdd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A JSONOption is an option of JSONFile.
type JSONOption func(*jsonOptions)

type jsonOptions struct {
	strict bool
	skip   func(*DecodeError)
}

// StrictJSON refuses a line that has fields which the type has no place for. Without it they are
// left out.
func StrictJSON() JSONOption { return func(o *jsonOptions) { o.strict = true } }

// SkipBadLines leaves out lines that cannot be decoded and calls f for each, where they would fail the task. f
// may be nil. It is called in tasks, from several goroutines at once, and again for a task that runs again.
func SkipBadLines(f func(*DecodeError)) JSONOption {
	return func(o *jsonOptions) {
		if f == nil {
			f = func(*DecodeError) {}
		}
		o.skip = f
	}
}

// JSONFile returns the values of files that hold one JSON value a line. path is as for TextFile.
//
// Shape: one record for each line, in their order; lines of white space are left out. Partitions are those of
// TextFile.
// Cost: as encoding/json; the lines are not kept.
// Errors: as TextFile. A line that encoding/json cannot decode into a T fails the task with a *DecodeError, unless
// SkipBadLines is given; a panic of T's own methods is a *UserError naming this call, the partition and the line.
// Source: JSON Lines (jsonlines.org); package encoding/json.
func JSONFile[T any](c *Context, path string, minPartitions int, opts ...JSONOption) *RDD[T] {
	var o jsonOptions
	for _, opt := range opts {
		opt(&o)
	}
	list := func() ([]split, error) { return textSplits(path, minPartitions) }
	return fileSource(c, "jsonFile", checkMinPartitions(minPartitions), list, func(t *task, at *place, s split, out sink[T]) error {
		var rows []T
		lines := jsonLines{jsonOptions: o, at: at, path: s.path,
			next: func() any {
				rows = append(rows, *new(T)) // zero: what was decoded here before is with the reader of that chunk
				return &rows[len(rows)-1]
			},
			drop: func() { rows = rows[:len(rows)-1] },
		}
		return eachLines(t.ctx, s, true, func(in lineChunk) error {
			rows = rows[:0]
			err := lines.decode(in)
			return done(out, rows, err)
		})
	})
}

// jsonLines decodes lines into values that it asks for.
type jsonLines struct {
	jsonOptions
	at   *place
	path string
	next func() any // a pointer to a value to decode into, which is kept
	drop func()     // takes the last one back
	text []byte
}

// decode decodes the lines of a chunk up to one that fails.
func (l *jsonLines) decode(in lineChunk) (err error) {
	i, open := 0, false
	l.at.seen = in.first
	defer func() {
		if v := recover(); v != nil {
			if open {
				l.drop()
			}
			err = l.at.panicked(i, v)
		}
	}()
	for ; i < len(in.lines); i++ {
		if strings.TrimLeft(in.lines[i], " \t") == "" {
			continue
		}
		x := l.next()
		open = true
		err := l.line(in.lines[i], x)
		open = false
		if err != nil {
			l.drop()
			bad := &DecodeError{Path: l.path, Partition: l.at.part, Line: in.first + int64(i) + 1, Offset: in.starts[i], Err: err}
			if l.skip == nil {
				return bad
			}
			l.skip(bad)
		}
	}
	return nil
}

func (l *jsonLines) line(line string, x any) error {
	l.text = append(l.text[:0], line...) // decoders have to copy what they keep
	if !l.strict {
		return json.Unmarshal(l.text, x)
	}
	d := json.NewDecoder(bytes.NewReader(l.text))
	d.DisallowUnknownFields()
	if err := d.Decode(x); err != nil {
		if err == io.ErrUnexpectedEOF { // of the line: the file goes on
			err = errors.New("unexpected end of JSON input")
		}
		return err
	}
	if rest := bytes.TrimLeft(l.text[d.InputOffset():], " \t"); len(rest) > 0 {
		return fmt.Errorf("text after the value: %.20q", rest)
	}
	return nil
}

package files

import (
	"bytes"
	"encoding/json"
	"io"
)

// JSON returns a sink that writes each row as a line of JSON.
//
// Errors: a row that encoding/json refuses is a *RowError.
// Source: JSON Lines (jsonlines.org); package encoding/json.
func JSON[T any](dir string) *Sink[T] { return New(dir, Options[T]{Format: JSONFormat[T]()}) }

// JSONFormat returns the format of JSON: an object a line, in files that end with .json. HTML is not escaped.
func JSONFormat[T any]() Format[T] {
	return Format[T]{Name: "json", Suffix: ".json", Lines: true, NewEncoder: func(w io.Writer) (Encoder[T], error) {
		e := &jsonEncoder[T]{w: w}
		e.json = json.NewEncoder(&e.buf)
		e.json.SetEscapeHTML(false)
		return e, nil
	}}
}

type jsonEncoder[T any] struct {
	w    io.Writer
	buf  bytes.Buffer
	json *json.Encoder
}

func (e *jsonEncoder[T]) Encode(rows []T) (int, error) {
	e.buf.Reset()
	for i := range rows {
		if err := e.json.Encode(&rows[i]); err != nil { // a pointer: an interface of the row itself would copy it to the heap
			return i, err
		}
	}
	_, err := e.w.Write(e.buf.Bytes())
	return len(rows), err
}

func (e *jsonEncoder[T]) Close() error { return nil }

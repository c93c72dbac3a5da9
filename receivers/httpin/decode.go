package httpin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/leat-io/leat/receivers/internal/lines"
)

var errNotUTF8 = errors.New("not valid UTF-8")

// decodeLines returns the lines of a body.
func decodeLines(body []byte, limit int) ([]string, error) {
	if n := bytes.Count(body, []byte{'\n'}) + bytes.Count(body, []byte{'\r'}); n > 2*limit+1 {
		return nil, &tooMany{limit} // before they are cut: a line has two bytes of terminators at most
	}
	text := string(body)
	rows := lines.Cut(nil, text)
	if len(rows) > limit {
		return nil, &tooMany{limit}
	}
	if utf8.ValidString(text) {
		return rows, nil
	}
	for i, row := range rows {
		if !utf8.ValidString(row) {
			return nil, &RecordError{Record: i + 1, Offset: int64(strings.Index(text, row)), Err: errNotUTF8}
		}
	}
	return rows, nil
}

// decodeJSON returns the values of a body.
func decodeJSON[T any](body []byte, limit int) ([]T, error) {
	values := json.NewDecoder(bytes.NewReader(body))
	var rows []T
	for {
		var row T
		begin := values.InputOffset()
		err := decodeInto(values, &row)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, &RecordError{Record: len(rows) + 1, Offset: begin, Err: err}
		}
		if len(rows) == limit {
			return nil, &tooMany{limit}
		}
		rows = append(rows, row)
	}
}

// decodeInto decodes a value, which may call methods of T: a panic of one is an error of its record, and told as one.
func decodeInto[T any](values *json.Decoder, row *T) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("decoding panicked: %v", v)
		}
	}()
	return values.Decode(row)
}

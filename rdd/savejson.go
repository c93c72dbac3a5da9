package rdd

import (
	"bufio"
	"context"
	"encoding/json"
)

// SaveAsJSON writes one file of JSON lines for each partition into a new folder: part-00000.json and so on, one record a
// line, and at the end an empty file named _SUCCESS. JSONFile reads them back as far as encoding/json keeps
// values: it leaves out fields that are not exported, and has no NaN.
//
// Order: partition order is the order of the names; records in theirs.
// Errors: as SaveAsTextFile; a record that encoding/json refuses, or whose own methods panic, is a *UserError naming the
// RDD, the partition and the record.
// Source: JSON Lines (jsonlines.org); package encoding/json.
func (r *RDD[T]) SaveAsJSON(ctx context.Context, dir string, opts ...SaveOption) error {
	return newSaving(r.subject(), "saveAsJSON", opts, func(t *task, part int, w *bufio.Writer) error {
		lines := json.NewEncoder(w)
		lines.SetEscapeHTML(false)
		at := place{node: &r.base, part: part}
		return r.push(t, part, tallied(&t.env.Metrics().OutputRows, func(chunk []T) error {
			// A pointer: an interface of the record itself would copy it to the heap.
			err := encodeJSON(lines, &at, len(chunk), func(i int) any { return &chunk[i] })
			at.seen += int64(len(chunk))
			return err
		}))
	}).toFiles(ctx, dir, ".json")
}

// encodeJSON writes n records, each a line.
func encodeJSON(lines *json.Encoder, at *place, n int, record func(i int) any) (err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	for ; i < n; i++ {
		if err := lines.Encode(record(i)); err != nil {
			if refused(err) {
				return at.failed(i, err)
			}
			return err // of the file
		}
	}
	return nil
}

// refused reports whether a record has no JSON, as opposed to no room.
func refused(err error) bool {
	switch err.(type) {
	case *json.UnsupportedTypeError, *json.UnsupportedValueError, *json.MarshalerError:
		return true
	}
	return false
}

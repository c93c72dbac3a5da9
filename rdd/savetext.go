package rdd

import (
	"bufio"
	"context"
	"fmt"
)

// SaveAsTextFile writes one text file for each partition into a new folder: part-00000 and so on,
// one record a line, and at the end an empty file named _SUCCESS. Strings and []byte are written as
// they are, line ends in them too; other records as fmt prints them: a pair as (key,value).
//
// Order: partition order is the order of the names; records in theirs.
// Cost: one task a partition, written through a temporary file and a rename, so that a part is
// there whole or not at all.
// Errors: fs.ErrExist before any task runs if the folder is there already; what writing returns. Nothing is left of
// a save that fails.
func (r *RDD[T]) SaveAsTextFile(ctx context.Context, dir string, opts ...SaveOption) error {
	write := textWriter[T]()
	return newSaving(r.subject(), "saveAsTextFile", opts, func(t *task, part int, w *bufio.Writer) error {
		return r.push(t, part, tallied(&t.env.Metrics().OutputRows, func(chunk []T) error {
			for _, x := range chunk {
				write(w, x)
				if err := w.WriteByte('\n'); err != nil {
					return err
				}
			}
			return nil
		}))
	}).toFiles(ctx, dir, "")
}

// OverwriteTextFile is SaveAsTextFile into a folder that may be there: the parts of an earlier save
// are removed first, other files stay. A batch that is run again uses it.
func (r *RDD[T]) OverwriteTextFile(ctx context.Context, dir string) error {
	return r.SaveAsTextFile(ctx, dir, Overwrite())
}

// textWriter returns how records of T are written. A failed write is kept by the bufio.Writer and
// comes out of the next call that returns an error.
func textWriter[T any]() func(*bufio.Writer, T) {
	switch any(*new(T)).(type) {
	case string:
		return func(w *bufio.Writer, x T) { _, _ = w.WriteString(any(x).(string)) }
	case []byte:
		return func(w *bufio.Writer, x T) { _, _ = w.Write(any(x).([]byte)) }
	}
	return func(w *bufio.Writer, x T) { _, _ = fmt.Fprint(w, x) }
}

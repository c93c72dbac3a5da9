package parquetfiles

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/leat-io/leat/dstream/sink/files"
)

// Lines yields each row of a committed file as a line of JSON, by the schema of the file. It is made for files.ReadOptions.Lines.
//
// Shape: an object with a member for each column, in the order of the schema; groups are objects, lists arrays, maps with keys of
// text objects. Times are RFC 3339 in UTC, dates and times of day ISO 8601, decimals numbers, UUIDs text, bytes base64; numbers that JSON does
// not have are text.
// Errors: *files.DamageError.
func Lines(p files.Part, yield func(line []byte) bool) (err error) {
	f, err := open(p)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.close(); err == nil {
			err = closed
		}
	}()
	var root *column
	if err := guarded(func() (err error) { root, err = columnsOf(f.Schema()); return err }); err != nil {
		return damage(p, err)
	}
	count := int64(0)
	for _, g := range f.RowGroups() {
		goOn, n, err := groupLines(g, root, yield)
		if err != nil {
			return damage(p, err)
		}
		if !goOn {
			return nil
		}
		count += n
	}
	if count != p.Rows {
		return damage(p, fmt.Errorf("%d rows could be read, want %d", count, p.Rows))
	}
	return nil
}

// groupLines yields the rows of a row group.
func groupLines(g parquet.RowGroup, root *column, yield func(line []byte) bool) (goOn bool, count int64, err error) {
	rows := g.Rows()
	defer func() { _ = guarded(rows.Close) }() // gives buffers back
	var some [atOnce]parquet.Row
	var buf []byte
	var ends []int
	values := make([][]parquet.Value, root.leaves)
	for {
		buf, ends = buf[:0], ends[:0]
		err := guarded(func() error {
			n, err := rows.ReadRows(some[:])
			for _, row := range some[:n] {
				row.Range(func(i int, v []parquet.Value) bool { values[i] = v; return true })
				buf = root.append(buf, values)
				ends = append(ends, len(buf))
			}
			return err
		})
		if err != nil && !errors.Is(err, io.EOF) {
			return false, count, err
		}
		from := 0
		for _, end := range ends {
			if !yield(buf[from:end:end]) {
				return false, count, nil
			}
			from, count = end, count+1
		}
		if err != nil || len(ends) == 0 {
			return true, count, nil
		}
	}
}

// Verify is files.VerifyWith that also opens each Parquet file and goes over its footer and the headers of its pages.
//
// Errors: as files.VerifyWith.
func Verify(dir string, o files.ReadOptions) (files.Report, error) {
	return files.VerifyParts(dir, o, func(p files.Part) error {
		if p.Format != formatName {
			return nil
		}
		f, err := open(p)
		if err != nil {
			return err
		}
		return f.close()
	})
}

package parquetfiles

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"github.com/leat-io/leat/dstream/sink/files"
)

// A Row is a row of a committed file.
type Row[T any] struct {
	App, Output string
	Batch       int64
	Partition   int
	Value       T
}

// Read returns the rows of the committed batches below dir, as files.Read does. T is a struct; columns that it does not have
// are left out, fields that a file does not have are zero.
//
// Order: as files.Read's.
// Cost: each file is read for its checksum first, and then by pages.
// Errors: the first one is the last thing returned: files.ErrFormat where a file is not Parquet or T does not fit it;
// *files.DamageError.
func Read[T any](dir string, o files.ReadOptions) iter.Seq2[Row[T], error] {
	return func(yield func(Row[T], error) bool) {
		if err := guarded(func() error {
			_, err := schemaOf[T]()
			return err
		}); err != nil {
			yield(Row[T]{}, fmt.Errorf("%w: Parquet of %v: %w", files.ErrFormat, reflect.TypeFor[T](), err))
			return
		}
		for p, err := range files.Parts(dir, o) {
			goOn := true
			if err == nil {
				goOn, err = readPart(p, yield)
			}
			if err != nil {
				yield(Row[T]{}, err)
			}
			if err != nil || !goOn {
				return
			}
		}
	}
}

// readPart yields the rows of a file.
func readPart[T any](p files.Part, yield func(Row[T], error) bool) (goOn bool, err error) {
	f, err := open(p)
	if err != nil {
		return false, err
	}
	defer func() {
		if closed := f.close(); err == nil {
			err = closed
		}
	}()
	var r *parquet.GenericReader[T]
	if err := guarded(func() error {
		r = parquet.NewGenericReader[T](f.File)
		return nil
	}); err != nil {
		return false, fmt.Errorf("%w: %s does not fit %v: %w", files.ErrFormat, p.File, reflect.TypeFor[T](), err)
	}
	defer func() { _ = guarded(r.Close) }() // gives buffers back
	row := Row[T]{App: p.App, Output: p.Output, Batch: p.Batch, Partition: p.Partition}
	var rows [atOnce]T
	for count := int64(0); ; {
		clear(rows[:]) // nothing is shared with rows that were returned
		n := 0
		err := guarded(func() (err error) {
			n, err = r.Read(rows[:])
			return err
		})
		for _, row.Value = range rows[:n] {
			if !yield(row, nil) {
				return false, nil
			}
		}
		count += int64(n)
		switch {
		case errors.Is(err, io.EOF) && count == p.Rows:
			return true, nil
		case errors.Is(err, io.EOF) || err == nil && n == 0:
			return false, damage(p, fmt.Errorf("%d rows could be read, want %d", count, p.Rows))
		case err != nil:
			return false, damage(p, err)
		}
	}
}

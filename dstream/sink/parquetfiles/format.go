package parquetfiles

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/leat-io/leat/dstream/sink/files"
)

// formatName is kept in the manifests.
const formatName = "parquet"

const (
	// defaultRowGroup is how many bytes make a row group unless options say so.
	defaultRowGroup = 16 << 20
	// maxPage bounds a page, of a file that is read and of one that is written.
	maxPage = 256 << 20
	// atOnce is how many rows are written, or read, between two looks at how much is held.
	atOnce = 64
)

// Options say how files are written. The zero value is row groups of 16 MiB.
type Options struct {
	// RowGroupBytes is how much a writer holds, as it will be in the file, until a row group is written. Zero means 16 MiB. Larger
	// ones are read faster, each writer takes that memory.
	RowGroupBytes int64
}

// Validate returns an error naming the field that has no meaning.
func (o Options) Validate() error {
	if o.RowGroupBytes < 0 || o.RowGroupBytes > 1<<30 {
		return fmt.Errorf("%w: parquetfiles.Options.RowGroupBytes is %d, want 0 to %d", files.ErrFormat, o.RowGroupBytes, 1<<30)
	}
	return nil
}

// String returns the options in words.
func (o Options) String() string {
	return fmt.Sprintf("row groups of %d bytes", o.withDefaults().RowGroupBytes)
}

func (o Options) withDefaults() Options {
	if o.RowGroupBytes == 0 {
		o.RowGroupBytes = defaultRowGroup
	}
	return o
}

// New returns a sink of Parquet files below dir. T is a struct; its fields are the columns.
//
// Cost: memory for a row group each writer.
// Errors: another T, or a field that Parquet has no column for, is a files.ErrFormat of the first call.
func New[T any](dir string) *files.Sink[T] {
	return files.New(dir, files.Options[T]{Format: Format[T](Options{})})
}

// Format returns the format of New, in files that end with .parquet.
func Format[T any](o Options) files.Format[T] {
	return files.Format[T]{Name: formatName, Suffix: ".parquet", NewEncoder: func(w io.Writer) (files.Encoder[T], error) {
		if err := o.Validate(); err != nil {
			return nil, err
		}
		e := &encoder[T]{group: o.withDefaults().RowGroupBytes}
		if err := guarded(func() (err error) {
			schema, err := schemaOf[T]()
			if err == nil {
				e.to = parquet.NewGenericWriter[T](w, schema, parquet.Compression(&parquet.Zstd))
			}
			return err
		}); err != nil {
			return nil, fmt.Errorf("%w: Parquet of %v: %w", files.ErrFormat, reflect.TypeFor[T](), err)
		}
		return e, nil
	}}
}

// schemaOf returns the schema of a struct.
func schemaOf[T any]() (*parquet.Schema, error) {
	if t := reflect.TypeFor[T](); t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("want a struct")
	}
	schema := parquet.SchemaOf(new(T))
	columns := schema.Columns()
	if len(columns) == 0 {
		return nil, fmt.Errorf("no exported field")
	}
	for i, c := range columns {
		if slices.ContainsFunc(columns[:i], func(d []string) bool { return slices.Equal(c, d) }) {
			return nil, fmt.Errorf("two columns have the name %q", c)
		}
	}
	return schema, nil
}

// An encoder writes one file.
type encoder[T any] struct {
	to      *parquet.GenericWriter[T]
	group   int64
	written int64 // Size when the last row group was written
}

// Encode writes rows, and a row group whenever there is enough for one.
func (e *encoder[T]) Encode(rows []T) (n int, err error) {
	for len(rows) > 0 {
		some := rows[:min(atOnce, len(rows))]
		before := e.to.Size()
		written := 0
		err := guarded(func() (err error) {
			written, err = e.to.Write(some)
			return err
		})
		if err != nil {
			return n + written, err
		}
		size := e.to.Size()
		if size-before > maxPage { // it would be refused by a reader
			return n, fmt.Errorf("%d rows take %d bytes, want at most %d", len(some), size-before, maxPage)
		}
		if size-e.written >= e.group {
			if err := e.flush(); err != nil {
				return n, err
			}
		}
		n, rows = n+len(some), rows[len(some):]
	}
	return n, nil
}

func (e *encoder[T]) flush() error {
	err := guarded(e.to.Flush)
	e.written = e.to.Size()
	return err
}

// Close writes the last row group and the footer.
func (e *encoder[T]) Close() error { return guarded(e.to.Close) }

// guarded makes errors of the panics of the Parquet library, which has them for rows and files that it cannot do with.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if e, ok := p.(error); ok {
				err = e
				return
			}
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}

package rdd

import (
	"bufio"
	"context"
	"io"
	"slices"

	"github.com/leat-io/leat/rdd/codec"
)

// SaveAsObjectFile writes one object file for each partition into a new folder: part-00000.obj and so on, and at the
// end an empty file named _SUCCESS. ObjectFile reads them back exactly, to the bit for floats.
//
// Order: partition order is the order of the names; records in theirs.
// Cost: one task a partition; records encoded by package codec, some 1,024 at a time.
// Errors: as SaveAsTextFile; a *BuildError wrapping a *codec.TypeError for a T that has no exact encoding.
func (r *RDD[T]) SaveAsObjectFile(ctx context.Context, dir string, opts ...SaveOption) error {
	if r.err != nil {
		return r.err
	}
	rows, err := r.rows.columns.get()
	if err != nil {
		return &BuildError{Op: "saveAsObjectFile", Site: r.ctx.callSite(), Err: err}
	}
	return newSaving(r.subject(), "saveAsObjectFile", opts, func(t *task, part int, w *bufio.Writer) error {
		o, err := newObjectWriter(w, rows.Name())
		if err != nil {
			return err
		}
		buf := make([]T, 0, objectRows)
		encode := func(dst []byte, from, to int) ([]byte, error) { return rows.Append(dst, buf[from:to]) }
		err = r.push(t, part, tallied(&t.env.Metrics().OutputRows, func(chunk []T) error {
			for len(chunk) > 0 {
				n := min(len(chunk), objectRows-len(buf))
				buf, chunk = append(buf, chunk[:n]...), chunk[n:]
				if len(buf) == objectRows {
					if err := o.add(0, len(buf), encode); err != nil {
						return err
					}
					buf = buf[:0]
				}
			}
			return nil
		}))
		if err != nil {
			return err
		}
		if err := o.add(0, len(buf), encode); err != nil {
			return err
		}
		return o.close()
	}).toFiles(ctx, dir, ".obj")
}

// ObjectFile returns the records of files that SaveAsObjectFile wrote. path is as for TextFile.
//
// Shape: one partition for each file, in the order of their names; records as they were saved.
// Cost: one pass; each frame of the file, some 1,024 records, is decoded at once.
// Errors: as TextFile. A file that is cut short, damaged, of another T or another version fails the task with a
// *FileError that matches codec.ErrCorrupt; one cut short matches io.ErrUnexpectedEOF as well. A T that has no exact
// encoding is a *BuildError wrapping a *codec.TypeError.
func ObjectFile[T any](c *Context, path string) *RDD[T] {
	rows, err := codec.For[T]()
	return fileSource(c, "objectFile", err, func() ([]split, error) { return wholeSplits(path) }, func(t *task, _ *place, s split, out sink[T]) error {
		var buf []T
		decode := func(frame []byte) (n int, err error) {
			buf, err = rows.DecodeAppend(buf[:0], frame)
			return len(buf), err
		}
		push := func() error {
			for chunk := range slices.Chunk(buf, chunkSize) {
				if err := out(chunk); err != nil {
					return err
				}
			}
			return nil
		}
		return readObjects(t.ctx, s.path, rows.Name(), decode, push)
	})
}

// readObjects reads an object file. Each frame is decoded, and then pushed.
func readObjects(ctx context.Context, path, name string, decode func(frame []byte) (int, error), push func() error) error {
	src, err := openStream(path)
	if err != nil {
		return err
	}
	defer src.Close()
	r := &objectReader{src: bufio.NewReaderSize(src, 64<<10)}
	fail := func(err error) error { return &FileError{Path: path, Offset: r.at, Err: err} }
	if err := r.header(name); err != nil {
		return fail(err)
	}
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		frame, want, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fail(err)
		}
		got, err := decode(frame)
		if err != nil {
			return fail(err)
		}
		if got != want {
			return fail(damage("a frame of %d rows holds %d", want, got))
		}
		if err := push(); err != nil {
			return err
		}
	}
}

package spool

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
)

// blockSize is how much is written at once.
const blockSize = 64 << 10

// A Writer is one attempt at a partition. Its file is made with the first block.
type Writer struct {
	fs     files.FS
	batch  sink.Batch
	name   string
	part   part
	dst    files.File
	buf    []byte
	closed bool
	failed error // what the first failure was
	ended  bool
}

// rows returns the name of a part's file.
func (o *output) rows(b sink.Batch, p part) string { return rowsName(o.dir, b, p) }

func rowsName(dir string, b sink.Batch, p part) string {
	return filepath.Join(dir, rowsDir, fmt.Sprintf("%s-%05d-%s", batchName(b.ID), p.index, p.attempt))
}

// Part returns the writer of an attempt, after Begin.
func (s *Spool) Part(ctx context.Context, b sink.Batch, index int, attempt string) (*Writer, error) {
	if err := usable(ctx, b); err != nil {
		return nil, err
	}
	if err := checkAttempt(attempt); err != nil {
		return nil, fmt.Errorf("%v, partition %d: %w", b, index, err)
	}
	if index < 0 || index >= maxPartitions {
		return nil, fmt.Errorf("%v: partition %d, want 0 to %d", b, index, maxPartitions-1)
	}
	p := part{index: index, attempt: attempt}
	p.sum = seed(b, p)
	return &Writer{fs: s.fs, batch: b, name: rowsName(s.folder(b.App, b.Output), b, p), part: p}, nil
}

// Count returns how many rows were added.
func (w *Writer) Count() int64 { return w.part.rows }

// Fail makes every later call return err, which is returned.
func (w *Writer) Fail(err error) error {
	if w.failed == nil {
		w.failed = err
	}
	return w.failed
}

// Failed returns the first error.
func (w *Writer) Failed() error { return w.failed }

// Add takes a row. It is the caller's again when it returns.
func (w *Writer) Add(row []byte) error {
	if w.failed != nil {
		return w.failed
	}
	if len(row) > MaxRow {
		return w.Fail(fmt.Errorf("%v, partition %d, row %d: %d bytes, want at most %d", w.batch, w.part.index, w.part.rows, len(row), MaxRow))
	}
	w.part.sum = crc32.Update(w.part.sum, castagnoli, row)
	w.part.rows++
	w.buf = binary.AppendUvarint(w.buf, uint64(len(row)))
	w.buf = append(w.buf, row...)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, w.part.sum)
	if len(w.buf) >= blockSize {
		w.failed = w.flush()
	}
	return w.failed
}

func (w *Writer) flush() error {
	if w.dst == nil {
		f, err := w.fs.Create(w.name)
		if err != nil {
			return fmt.Errorf("%v, partition %d: %w", w.batch, w.part.index, err)
		}
		w.dst = f
	}
	if _, err := w.dst.Write(w.buf); err != nil {
		return fmt.Errorf("write %s: %w", w.name, err)
	}
	w.buf = w.buf[:0]
	return nil
}

// Finish makes the rows durable. The note is for Seal.
func (w *Writer) Finish(ctx context.Context) ([]byte, error) {
	if w.failed != nil {
		return nil, w.failed
	}
	if w.failed = ended(ctx, w.batch); w.failed != nil {
		return nil, w.failed
	}
	if w.part.rows == 0 {
		w.ended = true
		return nil, nil
	}
	if w.failed = w.finish(); w.failed != nil {
		return nil, w.failed
	}
	w.ended = true
	return appendPart(nil, w.part), nil
}

func (w *Writer) finish() error {
	if len(w.buf) > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if err := w.dst.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", w.name, err)
	}
	w.closed = true
	if err := w.dst.Close(); err != nil {
		return fmt.Errorf("close %s: %w", w.name, err)
	}
	if err := w.fs.SyncDir(filepath.Dir(w.name)); err != nil {
		return fmt.Errorf("sync the folder of %s: %w", w.name, err)
	}
	return nil
}

// Abort removes the file, also when ctx has ended.
func (w *Writer) Abort(context.Context) error {
	if w.ended {
		return nil
	}
	w.ended = true
	_ = w.Fail(fmt.Errorf("%v, partition %d: the attempt was given up", w.batch, w.part.index))
	if w.dst == nil {
		return nil
	}
	var closed error
	if !w.closed {
		closed = w.dst.Close()
	}
	err := w.fs.Remove(w.name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // Clean was here
	}
	return errors.Join(closed, err)
}

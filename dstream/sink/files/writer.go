package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"

	"github.com/leat-io/leat/dstream/sink"
)

// blockSize is how much is hashed and written at once.
const blockSize = 64 << 10

// A writer is one attempt at a partition. Its file is made when the first row comes.
type writer[T any] struct {
	sink   *Sink[T]
	batch  sink.Batch
	at     paths
	file   part
	dst    File
	out    tally
	rows   Encoder[T]
	failed error // what the first failure was
	ended  bool
}

// Write takes the next rows.
func (w *writer[T]) Write(rows []T) error {
	if w.failed != nil {
		return w.failed
	}
	if len(rows) == 0 {
		return nil
	}
	if w.dst == nil {
		if w.failed = w.open(); w.failed != nil {
			return w.failed
		}
	}
	n, err := w.rows.Encode(rows)
	switch {
	case w.out.err != nil:
		w.failed = w.out.err
	case err != nil:
		w.failed = &RowError{Batch: w.batch, Part: w.file.Partition, Row: w.file.Rows + int64(n), Err: err}
	}
	w.file.Rows += int64(len(rows))
	return w.failed
}

// open makes the file, and the folder of the batch if this is its first.
func (w *writer[T]) open() error {
	fsys, name := w.sink.fs, w.at.part(w.batch.ID, w.file)
	err := fsys.Mkdir(w.at.batch(w.batch.ID))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%v: %w", w.batch, err)
	}
	f, err := fsys.Create(name)
	if err != nil {
		return fmt.Errorf("%v, partition %d: %w", w.batch, w.file.Partition, err)
	}
	w.dst, w.out = f, tally{dst: f, name: name, sum: sha256.New()}
	if w.rows, err = w.sink.opts.Format.NewEncoder(&w.out); err != nil {
		return fmt.Errorf("%v, partition %d: %w", w.batch, w.file.Partition, err)
	}
	w.file.Header = w.out.bytes
	return nil
}

// Finish makes the file durable, and its name. The file is removed again where its batch is committed already, without it: by the next
// driver, while this one was stopped. Nobody would clean that batch once more.
func (w *writer[T]) Finish(ctx context.Context) ([]byte, error) {
	if w.failed != nil {
		return nil, w.failed
	}
	if w.failed = ended(ctx, w.batch); w.failed != nil {
		return nil, w.failed
	}
	w.failed = w.finish()
	if w.failed != nil || w.dst == nil {
		w.ended = w.failed == nil
		return nil, w.failed
	}
	w.ended = true
	if w.failed = w.leaveDecided(); w.failed != nil {
		return nil, w.failed
	}
	return appendPart(nil, w.file), nil
}

// leaveDecided removes the file if its batch is committed. Where it is not, the Clean that follows the commit sees the file.
func (w *writer[T]) leaveDecided() error {
	fsys := w.sink.fs
	_, err := fsys.Stat(w.at.manifest(w.batch.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = fsys.Remove(w.at.part(w.batch.ID, w.file))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%v, partition %d: %w", w.batch, w.file.Partition, err)
	}
	_ = fsys.Remove(w.at.batch(w.batch.ID)) // the folder, if nothing is in it
	return nil
}

func (w *writer[T]) finish() error {
	if w.dst == nil {
		return nil
	}
	name := w.at.part(w.batch.ID, w.file)
	if err := w.rows.Close(); err != nil && w.out.err == nil {
		return fmt.Errorf("end %s: %w", name, err)
	}
	if w.out.flush(); w.out.err != nil {
		return w.out.err
	}
	w.file.Bytes = w.out.bytes
	copy(w.file.Sum[:], w.out.sum.Sum(nil))
	if err := w.dst.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", name, err)
	}
	err := w.dst.Close()
	w.out.closed = true
	if err != nil {
		return fmt.Errorf("close %s: %w", name, err)
	}
	if err := w.sink.fs.SyncDir(w.at.batch(w.batch.ID)); err != nil {
		return fmt.Errorf("sync the folder of %s: %w", name, err)
	}
	return nil
}

// Abort removes the file, also when ctx has ended.
func (w *writer[T]) Abort(context.Context) error {
	if w.ended {
		return nil
	}
	w.ended = true
	if w.failed == nil {
		w.failed = fmt.Errorf("%v, partition %d: the attempt was given up", w.batch, w.file.Partition)
	}
	if w.dst == nil {
		return nil
	}
	var closed error
	if !w.out.closed {
		closed = w.dst.Close()
	}
	err := w.sink.fs.Remove(w.at.part(w.batch.ID, w.file))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // Clean was here
	}
	return errors.Join(closed, err)
}

// A tally writes a file in blocks, with their number and their hash. Its first error stays.
type tally struct {
	dst    File
	name   string
	sum    hash.Hash
	buf    []byte
	bytes  int64
	closed bool
	err    error
}

// Write takes p. It fails only when a block could not be written.
func (t *tally) Write(p []byte) (int, error) {
	t.bytes += int64(len(p))
	n := len(p)
	for len(p) > 0 && t.err == nil {
		room := blockSize - len(t.buf)
		if len(p) < room {
			t.buf = append(t.buf, p...)
			break
		}
		t.buf = append(t.buf, p[:room]...)
		p = p[room:]
		t.flush()
	}
	return n, t.err
}

func (t *tally) flush() {
	if t.err != nil || len(t.buf) == 0 {
		return
	}
	t.sum.Write(t.buf)
	if _, err := t.dst.Write(t.buf); err != nil {
		t.err = fmt.Errorf("write %s: %w", t.name, err)
	}
	t.buf = t.buf[:0]
}

package rdd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
)

// A spool is one scratch file of an operator. Any number of row sequences are written to it, their frames
// one behind the other as they fill, so that an operator which deals rows out over buckets needs one
// file and not one for each:
//
//	| bucket 3, frame 0 | bucket 7, frame 0 | bucket 3, frame 1 | ...
//
// A frame is
//
//	size uint32    bytes behind the checksum
//	rows uint32
//	CRC-32C        of what follows
//	numbers        of the rows, each as the uvarint of the difference to the one before
//	columns        the rows as package codec writes them
//
// with little-endian integers. Where the frames of a sequence are is kept in memory, a few bytes each, so
// that a reader knows how much there is to read before it believes anything in the file. Frames are
// written whole, which is all the buffering that a file needs.
type spool struct {
	t    *task
	at   *place // names the operator in errors
	file lineage.Scratch
	end  int64
	buf  []byte
}

const (
	spillFrameHeader = 12
	// spillFrameRows and spillFrameBytes bound the rows that a sequence holds until they make a frame.
	spillFrameRows  = 4096
	spillFrameBytes = 32 << 10
)

var errSpill = fmt.Errorf("damaged frame: %w", codec.ErrCorrupt)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

func newSpool(t *task, at *place) *spool { return &spool{t: t, at: at} }

// close removes the file. It may be called again.
func (p *spool) close() {
	if p == nil || p.file == nil {
		return
	}
	// What could not be removed is removed with the task.
	_ = p.file.Close()
	p.file = nil
}

// write appends the frame whose numbers and columns p.buf holds behind room for a header.
func (p *spool) write(rows int) (off int64, err error) {
	if p.file == nil {
		if p.end > 0 {
			return 0, p.failed("write", p.end, errors.New("the file is closed"))
		}
		if p.file, err = p.t.env.Scratch(); err != nil {
			return 0, p.failed("write", 0, err)
		}
	}
	body := p.buf[spillFrameHeader:]
	binary.LittleEndian.PutUint32(p.buf, uint32(len(body)))
	binary.LittleEndian.PutUint32(p.buf[4:], uint32(rows))
	binary.LittleEndian.PutUint32(p.buf[8:], crc32.Checksum(body, crcTable))
	off = p.end
	if _, err := p.file.Write(p.buf); err != nil {
		return 0, p.failed("write", off, err)
	}
	p.end += int64(len(p.buf))
	p.t.env.Metrics().SpilledRows += int64(rows)
	return off, nil
}

// read fills buf with the frame at off, whose length is that of buf, and checks it.
func (p *spool) read(buf []byte, off int64, rows int) error {
	if err := context.Cause(p.t.ctx); err != nil {
		return err
	}
	if n, err := p.file.ReadAt(buf, off); n < len(buf) {
		return p.failed("read", off, err)
	}
	body := buf[spillFrameHeader:]
	if int64(binary.LittleEndian.Uint32(buf)) != int64(len(body)) || int64(binary.LittleEndian.Uint32(buf[4:])) != int64(rows) ||
		binary.LittleEndian.Uint32(buf[8:]) != crc32.Checksum(body, crcTable) {
		return p.failed("read", off, errSpill)
	}
	return nil
}

func (p *spool) failed(what string, off int64, err error) error {
	return fmt.Errorf("%s: %s[%s], partition %d: %s spilled rows at byte %d: %w", p.at.node.site, p.at.node.op, p.at.node.id, p.at.part, what, off, err)
}

// A spilled is a sequence of rows in a spool, each with a number; numbers do not fall. It is written, then
// flushed, then read any number of times.
//
// Rows that have no encoding, such as those with unexported fields, stay in memory, and the operator
// with them: their program has never needed a codec.
type spilled[T any] struct {
	spool   *spool
	columns *lazyCodec[T]
	deep    func(*T) int64
	rows    []T // of the next frame
	numbers []int64
	bytes   int64
	frames  []spilledFrame[T]
}

// spilledFrame is where a frame lies, or the frame itself.
type spilledFrame[T any] struct {
	off     int64
	size    int
	n       int
	rows    []T // with numbers, where the rows could not be encoded
	numbers []int64
}

func newSpilled[T any](p *spool, columns *lazyCodec[T]) *spilled[T] {
	return &spilled[T]{spool: p, columns: columns, deep: codec.SizeFunc[T]()}
}

// add appends a row.
func (s *spilled[T]) add(row *T, number int64) error {
	s.rows = append(s.rows, *row)
	s.numbers = append(s.numbers, number)
	s.bytes += int64(unsafe.Sizeof(*row)) + 8
	if s.deep != nil {
		s.bytes += s.deep(row)
	}
	if s.bytes < spillFrameBytes && len(s.rows) < spillFrameRows {
		return nil
	}
	return s.frame()
}

// addAll appends rows; there are at least as many numbers.
func (s *spilled[T]) addAll(rows []T, numbers []int64) error {
	for i := range rows {
		if err := s.add(&rows[i], numbers[i]); err != nil {
			return err
		}
	}
	return nil
}

// flush writes what add still holds and gives its buffers up.
func (s *spilled[T]) flush() error {
	if s == nil {
		return nil
	}
	err := s.frame()
	s.rows, s.numbers = nil, nil
	return err
}

func (s *spilled[T]) frame() error {
	n := len(s.rows)
	if n == 0 {
		return nil
	}
	p := s.spool
	p.buf = append(p.buf[:0], make([]byte, spillFrameHeader)...)
	var last int64
	for _, x := range s.numbers {
		p.buf = binary.AppendUvarint(p.buf, uint64(x-last))
		last = x
	}
	columns, err := s.columns.get()
	if err == nil {
		p.buf, err = columns.Append(p.buf, s.rows)
	}
	if err != nil || len(p.buf) > 1<<31-1 {
		s.frames = append(s.frames, spilledFrame[T]{n: n, rows: s.rows, numbers: s.numbers})
		s.rows, s.numbers, s.bytes = nil, nil, 0
		return nil
	}
	off, err := p.write(n)
	if err != nil {
		return err
	}
	s.frames = append(s.frames, spilledFrame[T]{off: off, size: len(p.buf), n: n})
	clear(s.rows)
	s.rows, s.numbers, s.bytes = s.rows[:0], s.numbers[:0], 0
	if cap(p.buf) > 16*spillFrameBytes {
		p.buf = nil // one huge row does not hold its room for ever
	}
	return nil
}

// empty says that there are no rows.
func (s *spilled[T]) empty() bool { return s == nil || len(s.frames) == 0 && len(s.rows) == 0 }

// each calls f for the rows in order, at most chunkSize at a time. They are f's to change, and are used
// again afterwards.
func (s *spilled[T]) each(f func(rows []T, numbers []int64) error) error {
	if s == nil {
		return nil
	}
	r := s.reader()
	for {
		ok, err := r.more()
		if !ok {
			return err
		}
		n := min(len(r.rows)-r.at, chunkSize)
		if err := f(r.rows[r.at:r.at+n:r.at+n], r.numbers[r.at:r.at+n]); err != nil {
			return err
		}
		r.at += n
	}
}

// drain is flush, then each.
func (s *spilled[T]) drain(f func(rows []T, numbers []int64) error) error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.each(f)
}

// reader returns a reader at the first row.
func (s *spilled[T]) reader() *spillReader[T] { return &spillReader[T]{of: s} }

// spillReader reads a sequence frame by frame. Its row is rows[at].
type spillReader[T any] struct {
	of      *spilled[T]
	next    int // frame
	rows    []T
	numbers []int64
	at      int
	buf     []byte
}

// more says whether there is a row at r.at, and reads the next frame where that is needed.
func (r *spillReader[T]) more() (bool, error) {
	for r.at >= len(r.rows) {
		if r.of == nil || r.next >= len(r.of.frames) {
			return false, nil
		}
		if err := r.load(&r.of.frames[r.next]); err != nil {
			return false, err
		}
		r.next++
		r.at = 0
	}
	return true, nil
}

func (r *spillReader[T]) load(f *spilledFrame[T]) error {
	if f.rows != nil {
		// A copy: what is read may be changed.
		r.rows, r.numbers = append([]T(nil), f.rows...), append([]int64(nil), f.numbers...)
		return nil
	}
	p := r.of.spool
	r.buf = room(r.buf, f.size)
	if err := p.read(r.buf, f.off, f.n); err != nil {
		return err
	}
	body := r.buf[spillFrameHeader:]
	r.numbers = make([]int64, 0, f.n)
	var last int64
	for range f.n {
		x, n := binary.Uvarint(body)
		if n <= 0 {
			return p.failed("read", f.off, errSpill)
		}
		last += int64(x)
		r.numbers = append(r.numbers, last)
		body = body[n:]
	}
	columns, err := r.of.columns.get()
	if err != nil {
		return p.failed("read", f.off, err)
	}
	if r.rows, err = columns.DecodeAppend(r.rows[:0], body); err != nil {
		return p.failed("read", f.off, err)
	}
	if len(r.rows) != f.n {
		return p.failed("read", f.off, errSpill)
	}
	return nil
}

// number is that of the row at r.at.
func (r *spillReader[T]) number() int64 { return r.numbers[r.at] }

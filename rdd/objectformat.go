package rdd

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/leat-io/leat/rdd/codec"
)

// An object file, field by field in docs/objectfile.md:
//
//	+--------+-------+-------+-----+---------+
//	| header | frame | frame | ... | trailer |
//	+--------+-------+-------+-----+---------+
const (
	objectMagic   = "LOBJ"
	objectVersion = 1
	// maxObjectName bounds the name of an encoding, which is as long as its type is deep.
	maxObjectName = 1 << 20
	// maxObjectFrame bounds the bytes of a frame, maxObjectRows its rows.
	maxObjectFrame = 1 << 30
	maxObjectRows  = 1 << 20
	// objectRows is how many rows a frame is filled to.
	objectRows = 1024

	objectFrame       = 1
	objectTrailer     = 2
	objectHeaderSize  = 10 // before the name
	frameHeadSize     = 17
	objectTrailerSize = 21
)

// sealBytes appends the checksum of b.
func sealBytes(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// unsealed returns b without its checksum, false if that does not fit.
func unsealed(b []byte) ([]byte, bool) {
	body := b[:len(b)-4]
	return body, crc32.Checksum(body, castagnoli) == binary.LittleEndian.Uint32(b[len(body):])
}

// objectWriter writes an object file.
type objectWriter struct {
	dst          io.Writer
	frames, rows uint64
	limit        int // bytes of a frame
	buf          []byte
}

// newObjectWriter writes the header. name is that of the encoding of the rows.
func newObjectWriter(dst io.Writer, name string) (*objectWriter, error) {
	if len(name) > maxObjectName {
		return nil, fmt.Errorf("%w: the name of the encoding has %d bytes, an object file takes %d", ErrArgument, len(name), maxObjectName)
	}
	head := append([]byte(objectMagic), objectVersion, 0)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(name)))
	head = sealBytes(append(head, name...))
	_, err := dst.Write(head)
	return &objectWriter{dst: dst, limit: maxObjectFrame}, err
}

// add writes the rows [from, to) of what encode encodes as one frame, or as several if they are large.
func (o *objectWriter) add(from, to int, encode func(dst []byte, from, to int) ([]byte, error)) error {
	if from == to {
		return nil
	}
	head := append(o.buf[:0], make([]byte, frameHeadSize)...)
	buf, err := encode(head, from, to)
	if err != nil {
		return err
	}
	o.buf = buf
	payload := buf[frameHeadSize:]
	if len(payload) > o.limit {
		if to-from == 1 {
			return fmt.Errorf("%w: a row of %d bytes, a frame of an object file takes %d", ErrArgument, len(payload), o.limit)
		}
		middle := from + (to-from)/2
		if err := o.add(from, middle, encode); err != nil {
			return err
		}
		return o.add(middle, to, encode)
	}
	head = append(buf[:0], objectFrame)
	head = binary.LittleEndian.AppendUint32(head, uint32(to-from))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(payload)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(payload, castagnoli))
	sealBytes(head)
	o.frames++
	o.rows += uint64(to - from)
	_, err = o.dst.Write(buf)
	return err
}

// close writes the trailer.
func (o *objectWriter) close() error {
	end := binary.LittleEndian.AppendUint64([]byte{objectTrailer}, o.frames)
	_, err := o.dst.Write(sealBytes(binary.LittleEndian.AppendUint64(end, o.rows)))
	return err
}

// objectReader reads an object file. Its errors match codec.ErrCorrupt, except for those of src.
type objectReader struct {
	src          io.Reader
	at           int64 // bytes read
	frames, rows uint64
	buf          []byte
}

// damage says what is wrong with the file; a file that is cut short also matches io.ErrUnexpectedEOF.
func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %w", codec.ErrCorrupt, fmt.Errorf(format, args...))
}

// take reads n bytes behind those in buf. Room is made as they arrive, so that a wrong length cannot ask for more than
// twice what the file has.
func (r *objectReader) take(n int) ([]byte, error) {
	from := len(r.buf)
	for n > 0 {
		step := min(n, max(len(r.buf), 64<<10))
		r.buf = slices.Grow(r.buf, step)
		end := len(r.buf) + step
		k, err := io.ReadFull(r.src, r.buf[len(r.buf):end])
		r.buf, r.at, n = r.buf[:len(r.buf)+k], r.at+int64(k), n-k
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, damage("the file ends in the middle: %w", io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.buf[from:], nil
}

// header reads the header of a file that must hold the encoding of that name.
func (r *objectReader) header(name string) error {
	r.buf = r.buf[:0]
	head, err := r.take(objectHeaderSize)
	if err != nil {
		return err
	}
	if string(head[:4]) != objectMagic {
		return damage("not an object file")
	}
	if head[4] != objectVersion { // before the checksum, which another version may place elsewhere
		return damage("object file of unknown version %d", head[4])
	}
	n := binary.LittleEndian.Uint32(head[6:])
	if n > maxObjectName {
		return damage("an encoding's name of %d bytes", n)
	}
	if _, err := r.take(int(n) + 4); err != nil {
		return err
	}
	body, ok := unsealed(r.buf)
	if !ok {
		return damage("the header does not match its checksum")
	}
	if body[5] != 0 {
		return damage("unknown flags %#x", body[5])
	}
	if got := string(body[objectHeaderSize:]); got != name {
		return damage("the rows are %.200s, asked for are %.200s", got, name)
	}
	return nil
}

// next returns the next frame, good until the next call, and how many rows it has; io.EOF after a right
// trailer with nothing behind it.
func (r *objectReader) next() (payload []byte, rows int, err error) {
	r.buf = r.buf[:0]
	kind, err := r.take(1)
	if err != nil {
		return nil, 0, err
	}
	switch kind[0] {
	case objectFrame:
	case objectTrailer:
		return nil, 0, r.trailer()
	default:
		return nil, 0, damage("a block of unknown kind %d", kind[0])
	}
	if _, err := r.take(frameHeadSize - 1); err != nil {
		return nil, 0, err
	}
	head, ok := unsealed(r.buf)
	if !ok {
		return nil, 0, damage("the head of frame %d does not match its checksum", r.frames)
	}
	count, size, sum := binary.LittleEndian.Uint32(head[1:]), binary.LittleEndian.Uint32(head[5:]), binary.LittleEndian.Uint32(head[9:])
	if size > maxObjectFrame || count == 0 || count > maxObjectRows {
		return nil, 0, damage("frame %d of %d bytes and %d rows", r.frames, size, count)
	}
	r.buf = r.buf[:0]
	if payload, err = r.take(int(size)); err != nil {
		return nil, 0, err
	}
	if crc32.Checksum(payload, castagnoli) != sum {
		return nil, 0, damage("frame %d does not match its checksum", r.frames)
	}
	r.frames++
	r.rows += uint64(count)
	return payload, int(count), nil
}

// trailer reads the rest of the trailer and returns io.EOF if all is right.
func (r *objectReader) trailer() error {
	if _, err := r.take(objectTrailerSize - 1); err != nil {
		return err
	}
	body, ok := unsealed(r.buf)
	if !ok {
		return damage("the trailer does not match its checksum")
	}
	frames, rows := binary.LittleEndian.Uint64(body[1:]), binary.LittleEndian.Uint64(body[9:])
	if frames != r.frames || rows != r.rows {
		return damage("%d frames of %d rows, written were %d of %d", r.frames, r.rows, frames, rows)
	}
	var more [1]byte
	switch _, err := io.ReadFull(r.src, more[:]); {
	case err == io.EOF:
		return io.EOF
	case err == nil:
		return damage("bytes behind the trailer")
	default: // also of a compression that is cut short behind the last byte
		return err
	}
}

package rdd

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/s2"

	"github.com/leat-io/leat/rdd/codec"
)

// A part file holds one partition of a checkpoint: a header, frames, and an end. Numbers are little-endian,
// checksums are CRC-32C.
//
//	header  "leatckpt"  version u16  flags u16  part u32  parts u32  checksum of these 20 bytes u32
//	frame   kind u8     length u32   checksum of kind, length and payload u32   payload
//
// Kind 1 is rows as package codec encodes them, kind 2 the same compressed (S2 block format), kind 3 the end: its
// payload is the numbers of frames and of rows, u64 each, and nothing follows it. A file that was cut off anywhere,
// also between two frames, is found out by that.
const (
	partMagic   = "leatckpt"
	partVersion = 1
	partHeader  = len(partMagic) + 2 + 2 + 4 + 4 + 4
	frameHeader = 1 + 4 + 4

	frameRows, frameS2, frameEnd = 1, 2, 3

	// frameBytes is about how much memory the rows of a frame take, and with the encoded form bounds what writing
	// and reading a partition of any size holds.
	frameBytes = 4 << 20
)

func partName(dir string, part int) string {
	return filepath.Join(dir, fmt.Sprintf("part-%05d", part))
}

// partHead returns the header of a part.
func partHead(part, parts int) []byte {
	h := append(make([]byte, 0, partHeader), partMagic...)
	h = binary.LittleEndian.AppendUint16(h, partVersion)
	h = binary.LittleEndian.AppendUint16(h, 0)
	h = binary.LittleEndian.AppendUint32(h, uint32(part))
	h = binary.LittleEndian.AppendUint32(h, uint32(parts))
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

// readPartHead returns what the header of a part says.
func readPartHead(r io.Reader) (part, parts int, err error) {
	h := make([]byte, partHeader)
	if _, err := io.ReadFull(r, h); err != nil {
		return 0, 0, cutOff(err)
	}
	body := h[:partHeader-4]
	switch {
	case string(h[:len(partMagic)]) != partMagic:
		return 0, 0, &codec.CorruptError{Reason: "not a part of a checkpoint"}
	case crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(h[partHeader-4:]):
		return 0, 0, &codec.CorruptError{Reason: "checksum of the header differs"}
	case binary.LittleEndian.Uint16(h[8:]) != partVersion || binary.LittleEndian.Uint16(h[10:]) != 0:
		return 0, 0, &codec.CorruptError{Offset: 8, Reason: fmt.Sprintf("version %d, want %d", binary.LittleEndian.Uint16(h[8:]), partVersion)}
	}
	return int(binary.LittleEndian.Uint32(h[12:])), int(binary.LittleEndian.Uint32(h[16:])), nil
}

// cutOff makes the end of a file, where there should be more, a damage.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &codec.CorruptError{Reason: "the file is cut off", Err: err}
	}
	return err
}

// writePart writes the frames of a partition to its file, through a temporary one whose name contains the part and
// the task. Where the file is there by then, another attempt has written it.
func writePart(t *task, dir string, part, parts int, compress bool, frames func(t *task, part int, put func([]byte, int) error) error) error {
	tmp, err := os.CreateTemp(dir, fmt.Sprintf("_temporary-%05d-task-%d-*", part, t.env.Attempt().Task))
	if err != nil {
		return err
	}
	err = fillPart(t, tmp, part, parts, compress, frames)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		name := partName(dir, part)
		if _, stat := os.Stat(name); errors.Is(stat, fs.ErrNotExist) {
			if err = os.Rename(tmp.Name(), name); err == nil {
				return nil
			}
			if _, stat := os.Stat(name); stat == nil {
				err = nil // another attempt was first after all
			}
		}
	}
	if removed := os.Remove(tmp.Name()); err == nil && !errors.Is(removed, fs.ErrNotExist) {
		err = removed
	}
	return err
}

// fillPart writes the frames of a partition.
func fillPart(t *task, to io.Writer, part, parts int, compress bool, frames func(t *task, part int, put func([]byte, int) error) error) error {
	w := &partWriter{out: bufio.NewWriterSize(to, 1<<16), compress: compress}
	if _, err := w.out.Write(partHead(part, parts)); err != nil {
		return err
	}
	if err := frames(t, part, w.put); err != nil {
		return err
	}
	return w.end()
}

// A partWriter writes the frames of a part.
type partWriter struct {
	out          *bufio.Writer
	compress     bool
	packed       []byte
	frames, rows uint64
}

// put writes a frame of so many rows.
func (w *partWriter) put(frame []byte, rows int) error {
	kind := byte(frameRows)
	if w.compress && s2.MaxEncodedLen(len(frame)) > 0 {
		w.packed = s2.Encode(w.packed[:cap(w.packed)], frame)
		if len(w.packed) < len(frame) {
			kind, frame = frameS2, w.packed
		}
	}
	w.frames++
	w.rows += uint64(rows)
	return w.write(kind, frame)
}

func (w *partWriter) write(kind byte, payload []byte) error {
	if uint64(len(payload)) > math.MaxUint32 {
		return fmt.Errorf("a frame of %d bytes, at most %d", len(payload), uint32(math.MaxUint32))
	}
	head := make([]byte, 0, frameHeader)
	head = append(head, kind)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(payload)))
	head = binary.LittleEndian.AppendUint32(head, frameSum(head, payload))
	if _, err := w.out.Write(head); err != nil {
		return err
	}
	_, err := w.out.Write(payload)
	return err
}

func (w *partWriter) end() error {
	payload := binary.LittleEndian.AppendUint64(nil, w.frames)
	payload = binary.LittleEndian.AppendUint64(payload, w.rows)
	if err := w.write(frameEnd, payload); err != nil {
		return err
	}
	return w.out.Flush()
}

func frameSum(head, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, payload)
}

// readPart gives the frames of a part to yield, which returns how many rows it found in one. A frame is yield's
// until it returns. Want, if it is not nil, is what the manifest says of the file.
func readPart(ctx context.Context, store CheckpointStore, name string, part int, want *checkpointPart, yield func(frame []byte) (rows int, err error)) error {
	f, written, err := openStored(ctx, store, name)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := crc32.NewIEEE()
	var from io.Reader = f
	if want != nil {
		if written != want.Size {
			return errOtherFile
		}
		from = io.TeeReader(f, sum)
	}
	in := bufio.NewReaderSize(from, 1<<16)
	got, _, err := readPartHead(in)
	if err != nil {
		return err
	}
	if got != part {
		return &codec.CorruptError{Reason: fmt.Sprintf("it is part %d", got)}
	}
	left := written - int64(partHeader)
	var buf, plain []byte
	var frames, rows uint64
	for {
		var head [frameHeader]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return cutOff(err)
		}
		left -= frameHeader
		size := int64(binary.LittleEndian.Uint32(head[1:]))
		if size > left {
			return &codec.CorruptError{Reason: fmt.Sprintf("a frame of %d bytes, %d are left", size, left)}
		}
		left -= size
		if int64(cap(buf)) < size {
			buf = make([]byte, size)
		}
		buf = buf[:size]
		if _, err := io.ReadFull(in, buf); err != nil {
			return cutOff(err)
		}
		if frameSum(head[:5], buf) != binary.LittleEndian.Uint32(head[5:]) {
			return &codec.CorruptError{Reason: fmt.Sprintf("checksum of frame %d differs", frames)}
		}
		frame := buf
		switch head[0] {
		case frameRows:
		case frameS2:
			if plain, err = unpack(plain, buf); err != nil {
				return err
			}
			frame = plain
		case frameEnd:
			if size != 16 || binary.LittleEndian.Uint64(buf) != frames || binary.LittleEndian.Uint64(buf[8:]) != rows || left != 0 {
				return &codec.CorruptError{Reason: fmt.Sprintf("the end does not fit %d frames of %d rows", frames, rows)}
			}
			if want != nil && sum.Sum32() != want.Sum {
				return errOtherFile
			}
			return nil
		default:
			return &codec.CorruptError{Reason: fmt.Sprintf("a frame of kind %d", head[0])}
		}
		n, err := yield(frame)
		if err != nil {
			return err
		}
		frames++
		rows += uint64(n)
	}
}

// maxRatio bounds what a compressed frame may say it grows to: more than S2 makes of anything that was written here.
const maxRatio = 4096

// unpack decompresses into buf, or a larger one.
func unpack(buf, packed []byte) ([]byte, error) {
	n, err := s2.DecodedLen(packed)
	if err == nil && n > maxRatio*len(packed) {
		err = fmt.Errorf("%d bytes in %d", n, len(packed))
	}
	var plain []byte
	if err == nil {
		plain, err = s2.Decode(buf[:cap(buf)], packed)
	}
	if err != nil {
		return buf, &codec.CorruptError{Reason: "a compressed frame", Err: err}
	}
	return plain, nil
}

package receivedlog

import (
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
)

// Read returns the block of the record at a, after checking that it is the one that was written there: its place, stream,
// length and checksum.
//
// Errors: *DamageError with file and offset; one that wraps fs.ErrNotExist if the segment was cleaned or is gone; ErrClosed.
func (l *Log) Read(a Address) ([]byte, error) {
	l.mu.Lock()
	closed, end := l.closed, int64(-1)
	i, ok := l.segments.find(a.Segment)
	if ok {
		end = l.segments[i].end
	}
	l.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	path := l.path(a.Segment)
	if !ok {
		return nil, fmt.Errorf("read received block: %w", &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist})
	}
	file, err := l.opts.FS.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read received block: %w", err)
	}
	defer file.Close() // nothing was written
	size, err := file.Size()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if end >= 0 {
		size = min(size, end)
	}
	raw, err := ReadRecord(file, size, path, a)
	if err != nil {
		return nil, err
	}
	return Block(raw, a)
}

// ReadRecord returns the bytes of the record at a, as they lie in the first size bytes of its segment's file, after checking them. The
// name is for errors.
//
// Errors: *DamageError with the name and the offset; what the disk answered, with the name.
func ReadRecord(in io.ReaderAt, size int64, name string, a Address) ([]byte, error) {
	damaged := func(reason string) error {
		return fmt.Errorf("read received block of stream %d: %w", a.Stream,
			&DamageError{File: name, Offset: a.Offset, Length: recordHeader + int64(a.Length), Reason: reason})
	}
	if a.Length > maxRecord || a.Offset < segmentHeader || a.Offset > size-recordHeader-int64(a.Length) {
		return nil, damaged("no record")
	}
	var header [recordHeader]byte
	if err := readFull(in, header[:], a.Offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	r, ok := parseRecord(header[:], a.Segment, a.Offset)
	want := a
	want.Epoch = 0
	switch {
	case !ok:
		return nil, damaged("damaged record")
	case r.address() != want:
		return nil, damaged("another record")
	case r.end() > size:
		return nil, damaged("record cut short")
	}
	raw := make([]byte, r.end()-r.offset)
	if err := readFull(in, raw, a.Offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if _, err := Block(raw, a); err != nil {
		return nil, damaged("damaged block")
	}
	return raw, nil
}

// Block returns the block in the bytes of the record at a, whose checksums are checked. It is a part of them.
//
// Errors: *DamageError without a file, where they are not that record.
func Block(raw []byte, a Address) ([]byte, error) {
	r, ok := parseRecord(raw, a.Segment, a.Offset)
	a.Epoch = 0
	if !ok || r.address() != a || r.end()-r.offset != int64(len(raw)) || crc32.Checksum(raw[recordHeader:], castagnoli) != r.body {
		return nil, &DamageError{File: segmentName(a.Segment), Offset: a.Offset, Length: int64(len(raw)), Reason: "another record"}
	}
	return slices.Clip(raw[recordHeader+int(r.meta):]), nil
}

func readFull(in io.ReaderAt, buf []byte, off int64) error {
	n, err := in.ReadAt(buf, off)
	if n == len(buf) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

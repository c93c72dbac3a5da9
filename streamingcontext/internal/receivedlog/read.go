package receivedlog

import (
	"fmt"
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
	damaged := func(reason string) error {
		return fmt.Errorf("read received block of stream %d: %w", a.Stream,
			&DamageError{File: path, Offset: a.Offset, Length: recordHeader + int64(a.Length), Reason: reason})
	}
	if a.Length > maxRecord || a.Offset < segmentHeader || a.Offset > size-recordHeader-int64(a.Length) {
		return nil, damaged("no record")
	}
	var header [recordHeader]byte
	if err := readFull(file, header[:], a.Offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	r, ok := parseRecord(header[:], a.Segment, a.Offset)
	switch {
	case !ok:
		return nil, damaged("damaged record")
	case r.address() != a:
		return nil, damaged("another record")
	case r.end() > size:
		return nil, damaged("record cut short")
	}
	body := make([]byte, int(r.meta)+int(r.block))
	if err := readFull(file, body, a.Offset+recordHeader); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	meta, block := body[:r.meta], body[r.meta:]
	if bodySum(block, meta) != r.body {
		return nil, damaged("damaged block")
	}
	return slices.Clip(block), nil
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

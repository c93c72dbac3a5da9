package receivedlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// recover finds the segments and cuts off the torn end.
func (l *Log) recover() error {
	fs := l.opts.FS
	if err := fs.MkdirAll(l.dir); err != nil {
		return err
	}
	if err := fs.SyncDir(filepath.Dir(l.dir)); err != nil {
		return err
	}
	names, err := fs.List(l.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if number, ok := segmentNumber(name); ok {
			l.segments = append(l.segments, segment{number: number})
		}
	}
	slices.SortFunc(l.segments, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	for i := range l.segments {
		if err := l.readHeader(i); err != nil {
			return err
		}
	}
	removed, err := l.cutTail()
	if err == nil && removed {
		_, err = l.cutTail()
	}
	if n := len(l.segments); n > 0 {
		l.newest = l.segments[n-1].number
	}
	return err
}

// readHeader reads the header of a segment: it says where the one before ends.
func (l *Log) readHeader(i int) error {
	seg := &l.segments[i]
	path := l.path(seg.number)
	file, err := l.opts.FS.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written
	var header [segmentHeader]byte
	if n, err := file.ReadAt(header[:], 0); n < len(header) && err != io.EOF {
		return fmt.Errorf("read %s: %w", path, err)
	}
	before, version, ok := parseSegment(header[:], seg.number)
	if ok && version != formatVersion {
		return &VersionError{path, version, formatVersion}
	}
	seg.damaged = !ok
	if i == 0 {
		return nil
	}
	if prev := &l.segments[i-1]; !ok || prev.number+1 != seg.number {
		prev.end = -1
	} else {
		prev.end = before
	}
	return nil
}

// cutTail cuts off what a crash has left behind the last record. A segment that has no record and not even a header is
// removed.
func (l *Log) cutTail() (removed bool, err error) {
	if len(l.segments) == 0 {
		return false, nil
	}
	fs, last := l.opts.FS, &l.segments[len(l.segments)-1]
	path := l.path(last.number)
	file, err := fs.Edit(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Size()
	if err != nil {
		return false, err
	}
	end, whole, records, err := tail(file, last.number, size)
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	if last.damaged && records == 0 && len(l.torn) == 0 {
		// The header is flushed before a record is written, so none was.
		if err := fs.Remove(path); err != nil {
			return false, err
		}
		l.torn = append(l.torn, Torn{File: path, Bytes: size})
		l.segments = l.segments[:len(l.segments)-1]
		return true, fs.SyncDir(l.dir)
	}
	last.end = end
	if size > end {
		if err := file.Truncate(end); err != nil {
			return false, err
		}
		if err := file.Sync(); err != nil {
			return false, fmt.Errorf("cut %s: %w", path, err)
		}
		l.torn = slices.Insert(l.torn, 0, Torn{File: path, Offset: end, Bytes: size - end, Records: whole})
	}
	return false, nil
}

package receivedlog

import (
	"context"
	"fmt"
	"io"
)

// Entry is a record as Scan finds it.
type Entry struct {
	Address Address
	Meta    []byte // its own
}

// Scan visits all whole records in the order of the log, oldest segment first, and reads each one completely. Records that
// are appended meanwhile may be visited or not. An error of visit ends it and is returned; visit must not call Clean, which waits.
//
// Cost: reads the whole log, 256 KiB at a time.
// Errors: *ScanError after all records have been visited, if some are lost: it names files and offsets. What a disk
// answered, with the file's name.
func (l *Log) Scan(ctx context.Context, visit func(Entry) error) error {
	l.cleaning.Lock()
	defer l.cleaning.Unlock()
	l.mu.Lock()
	segments, closed := l.segments.clone(), l.closed
	l.mu.Unlock()
	if closed {
		return ErrClosed
	}
	lost := &ScanError{}
	for i, seg := range segments {
		if i > 0 && segments[i-1].number+1 != seg.number {
			lost.add(&DamageError{File: l.path(segments[i-1].number + 1), Reason: fmt.Sprintf("%d segments are missing", seg.number-segments[i-1].number-1)})
		}
		if err := l.scanSegment(ctx, seg, lost, visit); err != nil {
			return err
		}
	}
	if lost.Total > 0 {
		return lost
	}
	return nil
}

func (l *Log) scanSegment(ctx context.Context, seg segment, lost *ScanError, visit func(Entry) error) error {
	if seg.end == segmentHeader && !seg.damaged {
		return nil // just begun; it goes if its first group fails
	}
	path := l.path(seg.number)
	file, err := l.opts.FS.Open(path)
	if err != nil {
		return fmt.Errorf("scan received blocks: %w", err)
	}
	defer file.Close() // nothing was written
	size, err := file.Size()
	if err != nil {
		return fmt.Errorf("scan %s: %w", path, err)
	}
	if seg.damaged {
		lost.add(&DamageError{File: path, Length: segmentHeader, Reason: "damaged header of a segment"})
	}
	end := size
	if seg.end >= 0 {
		end = seg.end
	}
	src := newSource(file, seg.number, min(size, end))
	err = eachRecord(src, func(r record) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		meta, err := src.meta(r)
		if err != nil {
			return fmt.Errorf("scan %s: %w", path, err)
		}
		return visit(Entry{r.address(), meta})
	}, func(from, to int64, reason string) {
		lost.add(&DamageError{File: path, Offset: from, Length: to - from, Reason: reason})
	})
	if err != nil {
		return err
	}
	if end > size {
		lost.add(&DamageError{File: path, Offset: size, Length: end - size, Reason: "end of a segment is missing"})
	}
	return nil
}

// eachRecord calls good for every whole record of a segment and bad for every stretch between them.
func eachRecord(s *source, good func(record) error, bad func(from, to int64, reason string)) error {
	for off := int64(segmentHeader); off < s.size; {
		r, parsed, whole, err := s.record(off)
		if err != nil {
			return &readError{s.segment, off, err}
		}
		if whole {
			if err := good(r); err != nil {
				return err
			}
			off = r.end()
			continue
		}
		next, reason := r.end(), fmt.Sprintf("damaged block of stream %d", r.stream)
		if !parsed || next > s.size {
			reason = "damaged record"
			if next, err = s.find(off + 1); err != nil {
				return &readError{s.segment, off, err}
			}
		}
		bad(off, next, reason)
		off = next
	}
	return nil
}

// readError is what a disk answered.
type readError struct {
	segment uint64
	offset  int64
	err     error
}

func (e *readError) Error() string {
	return fmt.Sprintf("read %s at byte %d: %v", segmentName(e.segment), e.offset, e.err)
}

func (e *readError) Unwrap() error { return e.err }

// Torn is what Open cut off the end of the log: the rest of an append that a crash interrupted.
type Torn struct {
	File    string
	Offset  int64 // from where on; 0 if the whole segment went
	Bytes   int64
	Records int // whole records among them, of the group that was interrupted
}

// String returns the file, where it was cut, and how much went.
func (t Torn) String() string {
	return fmt.Sprintf("%s cut at byte %d: %d bytes, %d whole records", t.File, t.Offset, t.Bytes, t.Records)
}

// tail finds out where the last segment of a log ends. Damage in front of a whole record of a later group was durable once;
// behind the last group nothing was acknowledged. whole counts the good records between end and the end of the file,
// records those of the file.
func tail(in io.ReaderAt, number uint64, size int64) (end int64, whole, records int, err error) {
	type damage struct {
		from   int64
		before int // records
	}
	var torn []damage // which no later group follows, yet
	end = segmentHeader
	err = eachRecord(newSource(in, number, size), func(r record) error {
		records++
		for len(torn) > 0 && torn[0].from < r.group() {
			torn = torn[1:]
		}
		end = r.end()
		return nil
	}, func(from, _ int64, _ string) {
		torn = append(torn, damage{from, records})
	})
	if len(torn) > 0 {
		return torn[0].from, records - torn[0].before, records, err
	}
	return end, 0, records, err
}

package receivedlog

import (
	"fmt"
	"time"
)

// writing is the segment that is written to. It belongs to whoever is busy.
type writing struct {
	File
	number uint64
	began  time.Time
	end    int64 // behind the last record that is durable
}

// commit writes a group and makes it durable. It is called by one goroutine at a time, without the lock.
//
// What a write leaves behind when it fails is cut off, and the segment goes on. After a flush that failed, or when nothing can be
// cut off, the segment is given up: the next flush might succeed without the bytes that the failed one has lost.
func (l *Log) commit(g *group) error {
	w := l.file
	now := l.opts.Now()
	if w != nil && w.end > segmentHeader && (w.end+int64(len(g.buf)) > l.opts.SegmentBytes || now.Sub(w.began) > l.opts.Roll) {
		l.giveUp()
		w = nil
	}
	if w == nil {
		if err := l.begin(now); err != nil {
			return err
		}
		w = l.file
	}
	for i, start := range g.starts {
		at := &g.at[i]
		at.Segment, at.Offset = w.number, w.end+int64(start)
		at.Sum = placeRecord(g.buf[start:start+recordHeader], at.Segment, at.Offset, start)
	}
	if _, err := w.WriteAt(g.buf, w.end); err != nil {
		if cut := w.Truncate(w.end); cut != nil {
			l.opts.Logger.Warn("segment of received blocks is given up", "file", l.path(w.number), "err", cut)
			l.giveUp()
		}
		return fmt.Errorf("write %s: %w", l.path(w.number), err)
	}
	if err := w.Sync(); err != nil {
		l.opts.Logger.Warn("segment of received blocks is given up", "file", l.path(w.number), "err", err)
		l.giveUp()
		return fmt.Errorf("flush %s: %w", l.path(w.number), err)
	}
	w.end += int64(len(g.buf))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments[len(l.segments)-1].end = w.end
	return nil
}

// giveUp ends the segment that is written to. One without records goes, so that its number is taken again.
func (l *Log) giveUp() {
	w := l.file
	l.file = nil
	if err := w.Close(); err != nil { // all that counts is flushed
		l.opts.Logger.Warn("close segment of received blocks", "file", l.path(w.number), "err", err)
	}
	if w.end > segmentHeader {
		return
	}
	l.discard(w.number)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments = l.segments[:len(l.segments)-1]
	l.newest--
}

// discard removes a file that holds no record. If that does not work, Create replaces it.
func (l *Log) discard(number uint64) {
	if err := l.opts.FS.Remove(l.path(number)); err != nil {
		l.opts.Logger.Warn("remove segment of received blocks", "file", l.path(number), "err", err)
	}
}

// begin begins a new segment. Its header is durable, and its name, before a record is written.
func (l *Log) begin(now time.Time) error {
	l.mu.Lock()
	number, before := l.newest+1, int64(0)
	if n := len(l.segments); n > 0 {
		before = max(l.segments[n-1].end, 0)
	}
	l.mu.Unlock()
	path := l.path(number)
	file, err := l.opts.FS.Create(path)
	if err != nil {
		return fmt.Errorf("begin a segment: %w", err)
	}
	if _, err = file.WriteAt(appendSegment(nil, number, before, now.UnixMilli()), 0); err == nil {
		if err = file.Sync(); err == nil {
			err = l.opts.FS.SyncDir(l.dir)
		}
	}
	if err != nil {
		_ = file.Close() // it goes
		l.discard(number)
		return fmt.Errorf("begin %s: %w", path, err)
	}
	l.file = &writing{File: file, number: number, began: now, end: segmentHeader}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.newest = number
	l.segments = append(l.segments, segment{number: number, end: segmentHeader})
	return nil
}

package receivedlog

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
)

// Log is a log of received blocks. Make it with Open.
type Log struct {
	dir  string
	opts Options
	torn []Torn

	cleaning sync.Mutex // held by Clean and Scan; before mu

	mu       sync.Mutex // guards what follows
	idle     sync.Cond  // of mu: busy has become false
	segments segments   // in order; the one that is written to is the last
	newest   uint64     // number of the last segment there was
	next     *group     // who waits to be written
	spare    []byte     // the buffer of a group that is done
	busy     bool       // somebody writes, or was told to
	closed   bool
	closing  error // of the file, once closed and idle

	file *writing // belongs to whoever is busy; nil if the next append begins a segment
}

// Open opens the log in dir, which it makes if it is not there. The end that a crash has torn is cut off; see Torn.
// Other damage is left to Scan and Read.
//
// Cost: reads the last segment, and the headers of the others.
// Errors: Validate's; *VersionError; what the disk answered, with the file's name.
func Open(dir string, opts Options) (*Log, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("open log of received blocks: %w", err)
	}
	l := &Log{dir: dir, opts: opts.filled(), next: newGroup(nil)}
	l.idle.L = &l.mu
	if err := l.recover(); err != nil {
		return nil, fmt.Errorf("open log of received blocks: %w", err)
	}
	for _, t := range l.torn {
		l.opts.Logger.Warn("log of received blocks was torn", "what", t.String())
	}
	return l, nil
}

// Torn returns what Open cut off, in the order of the log. Nothing of it was acknowledged, unless it was damaged later.
func (l *Log) Torn() []Torn { return slices.Clone(l.torn) }

func (l *Log) path(number uint64) string { return filepath.Join(l.dir, segmentName(number)) }

// Segments returns how many files the log has, and how many bytes of records.
func (l *Log) Segments() (files int, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.segments {
		bytes += max(s.end-segmentHeader, 0)
	}
	return len(l.segments), bytes
}

// End returns an address behind all records: Clean with it removes what can be removed.
func (l *Log) End() Address {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.segments) == 0 {
		return Address{Segment: l.newest + 1}
	}
	last := l.segments[len(l.segments)-1]
	return Address{Segment: last.number, Offset: max(last.end, 0)}
}

// Close waits for the group that is being written, fails the appends behind it with ErrClosed, and closes the file. It may be
// called twice.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.drop(ErrClosed)
	}
	for l.busy {
		l.idle.Wait()
	}
	if l.file != nil {
		l.closing = l.file.Close()
		l.file = nil
	}
	return l.closing
}

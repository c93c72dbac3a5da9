package objectlog

import (
	"fmt"
	"time"
)

// A CorruptError says that an object of a log is not as the log left it: damaged, missing, or of another log. Nothing is changed.
type CorruptError struct {
	Store string // the store
	Name  string // the object, or where it should be
	Entry uint64 // the index of the entry, 0 where none is to blame
	What  string // what does not fit
	Err   error  // the cause, if there is one beyond What
}

// Error returns the object and what does not fit.
func (e *CorruptError) Error() string {
	s := fmt.Sprintf("corrupt driver log object %s in %s", e.Name, e.Store)
	if e.Entry > 0 {
		s += fmt.Sprintf(", entry %d", e.Entry)
	}
	s += ": " + e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// A LockedError says that a log has an owner already, which has not ended and whose record has not lapsed.
type LockedError struct {
	Store  string
	Prefix string // the log's folder in the store
	Holder Holder
}

// Error returns the log, its owner and when the record lapses.
func (e *LockedError) Error() string {
	h := e.Holder
	return fmt.Sprintf("driver log %s in %s is in use by %s (%s), process %d on %s, since %s; its record lapses at %s unless it is renewed",
		e.Prefix, e.Store, h.Node, h.Command, h.PID, h.Host, h.Since.Format(time.RFC3339), h.lapses().Format(time.RFC3339))
}

// A StorageError says that an object of a log could not be written in time. The log takes no more commands; another Open reads
// what has become durable and goes on.
type StorageError struct {
	Store string
	Name  string
	Err   error
}

// Error returns the object and the cause.
func (e *StorageError) Error() string {
	return fmt.Sprintf("write driver log object %s in %s: %v", e.Name, e.Store, e.Err)
}

// Unwrap returns the cause.
func (e *StorageError) Unwrap() error { return e.Err }

package boltlog

import (
	"fmt"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A CorruptError says that a file of a log is not as the log left it: damaged, cut short, or replaced by another or an older
// one. Nothing of it is used.
type CorruptError struct {
	Path  string // the file
	Page  int64  // the page of the file, -1 where none is to blame
	Entry uint64 // the index of the entry, 0 where none is to blame
	What  string // what does not fit
	Err   error  // the cause, if there is one beyond What
}

// Error returns the file, the place in it and what does not fit there.
func (e *CorruptError) Error() string {
	s := "corrupt driver log " + e.Path
	if e.Page >= 0 {
		s += fmt.Sprintf(", page %d", e.Page)
	}
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

// A LockedError says that a log has an owner already.
type LockedError = driverlog.LockedError

// A Holder is the owner of a log.
type Holder = driverlog.Holder

// A StorageError says that the file of a log could not be written. The log takes no more commands; another Open reads what
// has become durable and goes on.
type StorageError struct {
	Path string
	Err  error
}

// Error returns the file and the cause.
func (e *StorageError) Error() string { return fmt.Sprintf("write driver log %s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *StorageError) Unwrap() error { return e.Err }

// A BusyError says that a log was written so fast by its owner that it could not be read in one piece.
type BusyError struct {
	Path string
}

// Error returns the log.
func (e *BusyError) Error() string {
	return fmt.Sprintf("driver log %s changes while it is read", e.Path)
}

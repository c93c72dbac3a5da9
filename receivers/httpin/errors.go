package httpin

import (
	"errors"
	"fmt"
)

var (
	// errNoRoom is why a store was given up after Wait.
	errNoRoom = errors.New("the block log is full")
	// errCutOff is why a store was given up when the receiver stopped.
	errCutOff = errors.New("the receiver has stopped")
)

// InsecureAddrError says that a receiver would listen where others can reach it, without TLS.
type InsecureAddrError struct{ Addr string }

// Error returns the address.
func (e *InsecureAddrError) Error() string {
	return fmt.Sprintf("listen on %s: not a loopback address: give Options.TLS", e.Addr)
}

// RecordError says which record of a request is bad. None of the request is stored.
type RecordError struct {
	Record int   // from 1, in the body
	Offset int64 // bytes of the body before the record, and before white space in front of it
	Err    error
}

// Error returns the record's number, the offset and the cause.
func (e *RecordError) Error() string {
	return fmt.Sprintf("record %d (byte %d): %v", e.Record, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }

// tooMany is a request with more records than allowed.
type tooMany struct{ limit int }

func (e *tooMany) Error() string {
	return fmt.Sprintf("more than %d records in a request", e.limit)
}

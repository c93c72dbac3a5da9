package blobstore

import (
	"errors"
	"fmt"
)

// What callers of a Store branch on. A name that holds nothing is fs.ErrNotExist.
var (
	// ErrExists says that a name that was to be created holds a blob.
	ErrExists = errors.New("blob exists already")
	// ErrChanged says that a blob that was to be swapped has another tag.
	ErrChanged = errors.New("blob has been changed by another")
	// ErrUnknown says that a write may have taken effect, or may yet.
	ErrUnknown = errors.New("outcome unknown")
	// ErrTooLarge says that a blob is too large to be written or read in one piece.
	ErrTooLarge = errors.New("blob too large for one piece")
)

// An Error says which call of a store failed, on what.
type Error struct {
	Op   string // "put", "put if absent", "compare and swap", "open", "read", "list", "remove"
	Name string // the blob, or the prefix of a listing
	Err  error
}

// Error returns the call, the name and the cause.
func (e *Error) Error() string { return fmt.Sprintf("%s %q: %v", e.Op, e.Name, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A NameError says that a name cannot be one of a blob.
type NameError struct {
	Name   string
	Reason string
}

// Error returns the name and what is wrong with it.
func (e *NameError) Error() string { return fmt.Sprintf("blob name %q %s", e.Name, e.Reason) }

// A CorruptError says that a blob is not what was written under its name.
type CorruptError struct {
	Store string // the store's String
	Name  string
	What  string // what does not fit
}

// Error returns the blob and what does not fit.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt blob %q in %s: %s", e.Name, e.Store, e.What)
}

// An UnsupportedError says that storage does not do what a store needs of it.
type UnsupportedError struct {
	Store string // the store's String
	What  string // what it does not do
}

// Error returns the store and what it does not do.
func (e *UnsupportedError) Error() string { return fmt.Sprintf("%s %s", e.Store, e.What) }

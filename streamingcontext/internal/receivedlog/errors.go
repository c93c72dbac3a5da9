package receivedlog

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by methods of a log that was closed, and by appends that waited when it was.
var ErrClosed = errors.New("log of received blocks is closed")

// A DamageError says that bytes which were durable cannot be read back.
type DamageError struct {
	File   string
	Offset int64 // where the damage begins
	Length int64 // how far it reaches, 0 if that is not known
	Reason string
}

// Error returns the file, where in it, and what is wrong.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: %s at byte %d (%d bytes)", e.File, e.Reason, e.Offset, e.Length)
}

// A ScanError says which parts of a log are lost. All records outside of them were visited.
type ScanError struct {
	Damage []*DamageError // in order, the first MaxDamage of them
	Total  int            // how many there are
}

// MaxDamage is how many places a ScanError lists.
const MaxDamage = 1000

// Error returns the number of damaged places and the first one.
func (e *ScanError) Error() string {
	return fmt.Sprintf("log of received blocks is damaged in %d places, the first: %v", e.Total, e.Damage[0])
}

// Unwrap returns the damages listed.
func (e *ScanError) Unwrap() []error {
	errs := make([]error, len(e.Damage))
	for i, d := range e.Damage {
		errs[i] = d
	}
	return errs
}

func (e *ScanError) add(d *DamageError) {
	if e.Total++; len(e.Damage) < MaxDamage {
		e.Damage = append(e.Damage, d)
	}
}

// A VersionError says that a segment has a format this program does not know.
type VersionError struct {
	File       string
	Got, Known uint32
}

// Error returns the file and both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: format version %d, known is %d", e.File, e.Got, e.Known)
}

// A SizeError says that a record is larger than the log takes.
type SizeError struct {
	What       string // "block" or "meta"
	Size, Most int
}

// Error returns what is too large, and both sizes.
func (e *SizeError) Error() string {
	return fmt.Sprintf("%s of %d bytes is larger than %d", e.What, e.Size, e.Most)
}

// An AddressError says that bytes are no encoded Address.
type AddressError struct{ Field string }

// Error returns the field that is wrong.
func (e *AddressError) Error() string { return "address of a received block: " + e.Field }

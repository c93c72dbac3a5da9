package workload

import "fmt"

// DefaultSeed is the seed that the expected answers hold for.
const DefaultSeed uint64 = 42

// Size is a number of records with a name.
type Size int

// The sizes. Continuous checks use S; published figures are for M or L.
const (
	XS Size = 1_000
	S  Size = 100_000
	M  Size = 1_000_000
	L  Size = 10_000_000
)

// Records returns the number of records of the size.
func (s Size) Records() int { return int(s) }

// String returns the name of the size, or its number of records if it has no name.
func (s Size) String() string {
	switch s {
	case XS:
		return "XS"
	case S:
		return "S"
	case M:
		return "M"
	case L:
		return "L"
	}
	return fmt.Sprintf("%d records", int(s))
}

// A SizeError is a size name that is none of XS, S, M and L.
type SizeError struct{ Name string }

// Error returns the name that was not understood and the names that would be.
func (e *SizeError) Error() string {
	return fmt.Sprintf("size %q: want XS, S, M or L", e.Name)
}

// ParseSize returns the size called name.
//
// Errors: *SizeError for any name but XS, S, M and L.
func ParseSize(name string) (Size, error) {
	for _, s := range [...]Size{XS, S, M, L} {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, &SizeError{Name: name}
}

// A RangeError is a range of record indexes that is negative or ends before it starts.
type RangeError struct{ From, To int }

// Error returns the range that was refused.
func (e *RangeError) Error() string {
	return fmt.Sprintf("records %d to %d: want 0 <= from <= to", e.From, e.To)
}

// checkRange returns a *RangeError unless 0 <= from <= to.
func checkRange(from, to int) error {
	if from < 0 || to < from {
		return &RangeError{From: from, To: to}
	}
	return nil
}

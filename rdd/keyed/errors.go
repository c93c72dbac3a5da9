package keyed

import (
	"errors"
	"fmt"
)

// ErrBadKeyType marks keys that cannot be keys because their equality is that of an address, or because they have none.
var ErrBadKeyType = errors.New("bad key type")

// KeyTypeError says which type was refused as a key and where in the key it sits.
// It answers errors.Is(err, ErrBadKeyType).
type KeyTypeError struct {
	Type   string // the refused type, as Go prints it
	Path   string // where it sits in the key: "key", "key.Owner", "key[]", "key.(main.Point).Next"
	Reason string // why it was refused
}

// Error returns the path, the type and the reason in one line.
func (e *KeyTypeError) Error() string {
	return fmt.Sprintf("%v: %s is %s: %s", ErrBadKeyType, e.Path, e.Type, e.Reason)
}

// Unwrap returns ErrBadKeyType.
func (e *KeyTypeError) Unwrap() error { return ErrBadKeyType }

// ErrBadPartition marks a partition function that answered outside the partitions there are.
var ErrBadPartition = errors.New("partition out of range")

// PartitionError says which answer of a partition function was out of range.
// It answers errors.Is(err, ErrBadPartition).
type PartitionError struct {
	Entry int // the entry of the table whose key was asked about
	Got   int // the answer
	Of    int // the number of partitions: the answer should be at least 0 and below it
}

// Error returns the answer and the range it missed.
func (e *PartitionError) Error() string {
	return fmt.Sprintf("%v: entry %d put in partition %d of %d", ErrBadPartition, e.Entry, e.Got, e.Of)
}

// Unwrap returns ErrBadPartition.
func (e *PartitionError) Unwrap() error { return ErrBadPartition }

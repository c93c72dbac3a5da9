package receivers

import "errors"

// ErrDropped is returned for a block that was given to a block store which keeps nothing any more.
var ErrDropped = errors.New("receivers: block store is closed")

// DroppingBlocks is the further power of a [Blocks] that still takes blocks when it is closed, and drops them: a
// generator must come to its end, but a receiver must not acknowledge its source.
type DroppingBlocks interface {
	// Dropping reports whether blocks are dropped. It is asked when Put has returned.
	Dropping() bool
}

// dropping reports whether blocks given to b are dropped.
func dropping(b any) bool {
	d, ok := b.(DroppingBlocks)
	return ok && d.Dropping()
}

package sink

import (
	"context"
	"errors"
	"fmt"
)

// A Batch names what an output writes.
type Batch struct {
	App    string // the application in the driver log
	Output string // the output's name in the program
	ID     int64  // dense, from 0
	Time   int64  // the batch time in milliseconds
	Epoch  uint64 // of the driver that stages or commits; a later driver has a larger one
	Try    int    // which run of the batch within the epoch, from 1
}

// String returns application, output and id, for messages.
func (b Batch) String() string { return fmt.Sprintf("%s/%s batch %d", b.App, b.Output, b.ID) }

// A Sink keeps the rows of outputs.
type Sink[T any] interface {
	// Begin readies the sink for a try at staging a batch in so many partitions. Tries before it may have left things.
	Begin(ctx context.Context, b Batch, parts int) error
	// Part returns the writer of one attempt at one partition. The attempt is a short name, of letters, digits, dots and hyphens,
	// that no other attempt of the batch in any try or process has.
	Part(ctx context.Context, b Batch, part int, attempt string) (Writer[T], error)
	// Seal returns what Commit needs to know of the try: notes are what the finished parts returned, by partition. The rows of
	// those parts are durable when it returns. It is kept in the driver log, so it is small: names and digests.
	Seal(ctx context.Context, b Batch, notes [][]byte) (staged []byte, err error)
	// Commit makes the sealed rows visible, all at once. It is called for each batch in the order of their ids until it
	// succeeds, and may be called again at any time later.
	//
	// Errors: *ConflictError, *FencedError and what wraps ErrFinal are final; after any other it is called again.
	Commit(ctx context.Context, b Batch, staged []byte) error
	// Clean removes what tries at b and at batches before it have left and no committed batch needs. It is called some time after
	// Commit; a failure costs only room.
	Clean(ctx context.Context, b Batch) error
	// Last returns the last batch of an output that is committed.
	Last(ctx context.Context, app, output string) (Mark, error)
}

// A Writer is what one attempt writes a partition to.
type Writer[T any] interface {
	// Write takes the next rows. They are the caller's again when it returns.
	Write(rows []T) error
	// Finish ends the part and makes it durable. The note, small and possibly nil, goes to Seal.
	Finish(ctx context.Context) (note []byte, err error)
	// Abort gives up what was written. It is called instead of Finish, or after it has failed.
	Abort(ctx context.Context) error
}

// A Mark is the last batch that a sink has committed.
type Mark struct {
	ID     int64    // -1 where none is
	Epoch  uint64   // that it was committed under
	Digest [32]byte // SHA-256 of the staged bytes it was committed with
}

// A Promise is what the rows of a sink's outputs can be relied on for.
type Promise int

// The promises.
const (
	// ExactlyOnce: each row of each batch is there once, whatever failed.
	ExactlyOnce Promise = iota
	// AtLeastOnce: after a failure rows may be there again.
	AtLeastOnce
)

// String returns the promise in words.
func (p Promise) String() string {
	if p == ExactlyOnce {
		return "exactly once"
	}
	return "at least once"
}

// A Promiser is a Sink that says what it promises. A Sink that is none promises ExactlyOnce.
type Promiser interface{ Promise() Promise }

// ErrFinal is wrapped by an error of Commit that will not go away by itself, such as rows that were staged and are gone: the driver
// ends with it, and leaves the batch to whoever mends that.
var ErrFinal = errors.New("trying again is of no use")

// ErrConflict says that a batch is committed with other rows. It must be impossible: something else writes to the sink, or two
// programs share an application name.
var ErrConflict = errors.New("committed with other rows")

// A ConflictError names the batch of an ErrConflict.
type ConflictError struct{ Batch Batch }

// Error returns the batch.
func (e *ConflictError) Error() string { return fmt.Sprintf("%v: %v", e.Batch, ErrConflict) }

// Unwrap returns ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// A FencedError says that a driver with a larger epoch has committed: this one must stop.
type FencedError struct {
	Batch Batch
	Have  uint64 // the epoch that the sink has seen
}

// Error returns the batch and both epochs.
func (e *FencedError) Error() string {
	return fmt.Sprintf("%v: epoch %d is fenced off, epoch %d has committed", e.Batch, e.Batch.Epoch, e.Have)
}

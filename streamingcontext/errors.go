package streamingcontext

import (
	"errors"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// Conditions a caller may branch on. What is wrong with a graph, and ErrContextActive and
// ErrContextStopped, are sentinels of package dstream.
var (
	// ErrAnotherContextActive is returned by Start while another context runs on the same engine. The
	// context stays as it was and may be started later.
	ErrAnotherContextActive = errors.New("another streaming context is active on the engine")
	// ErrBatchDurationUnset is returned by Start for options without an Interval.
	ErrBatchDurationUnset = errors.New("batch interval is not set")
	// ErrStopInListener is returned by Stop when a listener's function calls it: the stop would wait for
	// the listener.
	ErrStopInListener = errors.New("stop called from a listener: call it from another goroutine")
	// ErrStopInJob is returned by Stop when an output operation or a function of Transform calls it: the
	// stop would wait for the batch.
	ErrStopInJob = errors.New("stop called from a batch: call it from another goroutine")
	// ErrTermLost ends a context whose driver no longer leads.
	ErrTermLost = errors.New("the driver no longer leads")
	// ErrDamaged is wrapped by what recovery refuses: a file or record that is not as it was written. The error names it.
	ErrDamaged = protocol.ErrDamaged
	// ErrQueueNotRecoverable fails a batch that would need RDDs which a queue has already given away.
	ErrQueueNotRecoverable = errors.New("a queue gives each RDD once")
	// ErrBlocksElsewhere is returned by Start of a context without Options.Blocks whose receivers had their blocks there: they cannot be read.
	ErrBlocksElsewhere = errors.New("received blocks are kept by Options.Blocks, which is not given")
	// ErrNoFolder is returned by Start of a context that has receivers, keeps what it needs in a store, and has no folder for blocks
	// that were received and are not processed.
	ErrNoFolder = errors.New("receivers need a folder for what they have acknowledged")
	// ErrNotReplayable is returned when a program is recovered with an input that had records in a batch and cannot
	// give them again.
	ErrNotReplayable = errors.New("the input cannot give a batch again")
)

// An OutputError says which output operation failed in which batch.
type OutputError struct {
	Batch  dstream.Time
	Output int    // position among the batch's jobs
	Name   string // the output operation, as in "print"
	Site   string // file and line of its declaration
	Err    error
}

// Error returns the batch, the operation, its place and the cause.
func (e *OutputError) Error() string {
	return fmt.Sprintf("batch %s: %s: %s: %v", e.Batch, e.Site, e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// A PromisedError says that a batch which an earlier build of the program has prepared is to be committed in an output that this one does not
// have. Its rows are promised: a build that has the output must commit them first.
type PromisedError struct {
	Output string
	Batch  dstream.Time
}

// Error returns the output and the batch.
func (e *PromisedError) Error() string {
	return fmt.Sprintf("%v: output %s is to commit batch %s", dstream.ErrChanged, e.Output, e.Batch)
}

// Unwrap returns dstream.ErrChanged.
func (e *PromisedError) Unwrap() error { return dstream.ErrChanged }

// A PanicError is a panic of a function that the program gave to an output operation.
type PanicError struct {
	Value string // the value, printed
	Stack string
}

// Error returns the panic's value, without the stack.
func (e *PanicError) Error() string { return "panic: " + e.Value }

// A StopTimeoutError says that a stop was cut short: what was left of an orderly one was dropped, and functions of
// the program that did not return were left behind.
type StopTimeoutError struct {
	Timeout time.Duration // 0 if the caller's context or a stop at once ended the wait
	Waiting string        // what the stop was waiting for
	Err     error
}

// Error returns what was not finished in time.
func (e *StopTimeoutError) Error() string {
	if e.Timeout == 0 {
		return fmt.Sprintf("stop: gave up waiting for %s: %v", e.Waiting, e.Err)
	}
	return fmt.Sprintf("stop: gave up waiting for %s after %v: %v", e.Waiting, e.Timeout, e.Err)
}

// Unwrap returns the cause.
func (e *StopTimeoutError) Unwrap() error { return e.Err }

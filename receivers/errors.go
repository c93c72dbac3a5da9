package receivers

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNotActive is returned for a record given to a generator that is not started yet or is stopping.
	ErrNotActive = errors.New("receivers: block generator is not active")
	// ErrSinkClosed is returned for a record given to the sink of a Receive that has returned.
	ErrSinkClosed = errors.New("receivers: sink of a receiver that has ended")
	// ErrGoexit is the end of a receiver that ended its goroutine, as runtime.Goexit does.
	ErrGoexit = errors.New("receivers: the receiver ended its goroutine")
	// ErrStarted is returned by a second start of something that starts once.
	ErrStarted = errors.New("receivers: already started")
)

// PanicError is the end of a receiver that panicked. The supervisor makes it and starts the receiver again.
type PanicError struct {
	Stream int32
	Value  any    // what the receiver panicked with
	Stack  []byte // the receiver's stack at that moment
}

// Error returns one line; the stack is in the field.
func (e *PanicError) Error() string {
	return fmt.Sprintf("receiver of stream %d panicked: %v", e.Stream, e.Value)
}

// Unwrap returns the value of the panic if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// RestartError is an error with which a receiver chooses the delay until it is started again, in place of
// [Options.RestartDelay].
type RestartError struct {
	Delay time.Duration // in whole milliseconds; zero or less starts it again at once
	Err   error         // why the receiver ended
}

// Error returns the cause and the delay.
func (e *RestartError) Error() string {
	return fmt.Sprintf("%v (start again after %v)", e.Err, e.Delay)
}

// Unwrap returns the cause.
func (e *RestartError) Unwrap() error { return e.Err }

// LostError says that accepted records could not be given to the block store before the flush had to end.
type LostError struct {
	Stream  int32
	Blocks  int
	Records int64
	Err     error // the last failure to store a block, or the end of the flush's context
}

// Error returns what was lost and why.
func (e *LostError) Error() string {
	return fmt.Sprintf("flush stream %d: %d records in %d blocks not stored: %v", e.Stream, e.Records, e.Blocks, e.Err)
}

// Unwrap returns the last failure.
func (e *LostError) Unwrap() error { return e.Err }

// OptionError says which option has a value that cannot be used.
type OptionError struct {
	Option string
	Value  any
	Reason string
}

// Error returns the option, its value and the reason.
func (e *OptionError) Error() string {
	return fmt.Sprintf("receivers: option %s is %v: %s", e.Option, e.Value, e.Reason)
}

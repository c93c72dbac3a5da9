package dstream

import (
	"errors"
	"fmt"

	"github.com/leat-io/leat/rdd"
)

// What can be wrong with a graph, or with a batch of it.
var (
	ErrNoOutputOps           = errors.New("no output operation is declared")
	ErrContextActive         = errors.New("context has been started: streams can no longer be declared")
	ErrContextStopped        = errors.New("context has been stopped")
	ErrBadDuration           = errors.New("bad duration")
	ErrBadWindow             = errors.New("window is not a multiple of the parent's slide")
	ErrBadSlide              = errors.New("slide is not a multiple of the parent's slide")
	ErrNoParents             = errors.New("no parent streams given")
	ErrDifferentContexts     = errors.New("streams belong to different contexts")
	ErrDifferentSlides       = errors.New("streams have different slides")
	ErrNilFunction           = errors.New("function is nil")
	ErrArgument              = errors.New("argument out of range")
	ErrParentAbsent          = errors.New("a parent stream has no RDD for the batch")
	ErrNilRDD                = errors.New("the function returned no RDD")
	ErrNotInitialized        = errors.New("the context has not been started")
	ErrCheckpointDirNotSet   = errors.New("checkpoint directory is not set: give the context a CheckpointDir")
	ErrBadCheckpointInterval = errors.New("checkpoint interval is not a multiple of the slide")
	ErrNoStorageLevel        = errors.New("a stream that is checkpointed must be persisted")
	ErrRememberTooShort      = errors.New("remember duration is not longer than the checkpoint interval")
	ErrRememberAlreadySet    = errors.New("remember duration is already set")
	ErrDuplicateInputInfo    = errors.New("an input reported a batch twice")
	ErrGoexit                = errors.New("the function ended its goroutine, as runtime.Goexit and a failing assertion do")
	ErrInBatch               = errors.New("called by a function that runs while a batch is generated")
	ErrNegativeRecords       = errors.New("an input reported a negative number of records")
	ErrNoState               = rdd.ErrNoState
	ErrStateRemoved          = rdd.ErrStateRemoved
	ErrStateTimingOut        = rdd.ErrStateTimingOut
)

// A BuildError says that a stream or output was declared with arguments that can never work. Start
// returns all of them, joined.
type BuildError struct {
	Op   string // the operator
	Site string // file and line of its call
	Err  error
}

func (e *BuildError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Site, e.Op, e.Err) }

// Unwrap returns the cause.
func (e *BuildError) Unwrap() error { return e.Err }

// A DurationError says which duration of a declaration broke which bound.
type DurationError struct {
	What  string // "window", "slide", "checkpoint interval"
	Value int64  // in milliseconds
	Unit  int64  // what it must be a multiple of, in milliseconds
	Err   error
}

func (e *DurationError) Error() string {
	return fmt.Sprintf("%s of %d ms with a slide of %d ms: %v", e.What, e.Value, e.Unit, e.Err)
}

// Unwrap returns the cause.
func (e *DurationError) Unwrap() error { return e.Err }

// A GenerationError says that the RDDs of a batch could not be made. No output of that batch runs.
type GenerationError struct {
	Batch Time
	Op    string // the operator at fault
	Site  string // file and line of its declaration
	Err   error
}

func (e *GenerationError) Error() string {
	return fmt.Sprintf("batch %s: %s: %s: %v", e.Batch, e.Site, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *GenerationError) Unwrap() error { return e.Err }

package rdd

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/leat-io/leat/lineage"
)

// Conditions a caller may branch on.
var (
	// ErrEmpty is returned by actions that need at least one record, such as Reduce and First.
	ErrEmpty = errors.New("rdd: no records")
	// ErrStopped is returned by actions after Context.Stop.
	ErrStopped = errors.New("rdd: context is stopped")
	// ErrNestedJob is returned by an action called with a task's context: jobs are started by the
	// program, not by tasks.
	ErrNestedJob = errors.New("rdd: action called inside a task")
	// ErrNilFunction is the cause of a BuildError for a nil function argument.
	ErrNilFunction = errors.New("function is nil")
	// ErrArgument marks arguments out of range.
	ErrArgument = errors.New("argument out of range")
	// ErrLengths is the cause when RDDs that are zipped do not match.
	ErrLengths = errors.New("rdd: zipped RDDs differ in length")
	// ErrPartitioner marks a partitioner that fits no such key, or that answered out of range.
	ErrPartitioner = errors.New("rdd: bad partitioner")
	// ErrDifferentContexts marks RDDs that were made for another runner.
	ErrDifferentContexts = errors.New("rdd: RDDs belong to different contexts")
	// ErrCheckpointTooLate is returned by Checkpoint after a job has run on the RDD.
	ErrCheckpointTooLate = errors.New("rdd: checkpoint asked for after a job ran")
	// ErrNoCheckpointDir is returned by Checkpoint when the context has no directory for it.
	ErrNoCheckpointDir = errors.New("rdd: no checkpoint directory set")
	// ErrCheckpointLost is what a job fails with that needs a partition of a local checkpoint which nobody
	// holds any more.
	ErrCheckpointLost = errors.New("rdd: partition of a local checkpoint is lost")
	// ErrDestroyed is the cause of a BuildError for a broadcast that was destroyed.
	ErrDestroyed = errors.New("rdd: broadcast is destroyed")
	// ErrInTask is returned inside a task for what only the program may ask.
	ErrInTask = errors.New("rdd: not to be asked inside a task")
	// ErrNotInTask is returned for what only a task may ask.
	ErrNotInTask = errors.New("rdd: only to be asked inside a task")
	// ErrLevelChange is returned by Persist when another storage level is already set.
	ErrLevelChange = errors.New("rdd: storage level already set")
	// ErrNoState, ErrStateRemoved and ErrStateTimingOut are those of package dstream, whose functions of states run in
	// tasks: they are here to cross the borders of processes like all that tasks return.
	ErrNoState        = errors.New("state is not set")
	ErrStateRemoved   = errors.New("state has been removed by this call")
	ErrStateTimingOut = errors.New("state is timing out")
)

// A BuildError says that an operator was called with arguments that can never work. Every action
// on the RDD, or on one derived from it, returns it.
type BuildError struct {
	Op   string // the operator
	Site string // file and line of its call
	Err  error
}

func (e *BuildError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Site, e.Op, e.Err) }

// Unwrap returns the cause.
func (e *BuildError) Unwrap() error { return e.Err }

// Permanent tells the scheduler that running again cannot help.
func (e *BuildError) Permanent() bool { return true }

// A UserError says that a function of the program returned an error or panicked, and where.
type UserError struct {
	Op        string         // the operator whose function failed
	Site      string         // file and line of the operator's call
	Node      lineage.NodeID // its RDD
	Partition int
	Offset    int64  // records the operator had taken in this partition before the one at fault; -1 unknown
	Stack     string // of the panic; empty for a returned error
	Err       error  // the returned error, or a *PanicError
}

func (e *UserError) Error() string {
	at := ""
	if e.Offset >= 0 {
		at = fmt.Sprintf(", record %d", e.Offset)
	}
	return fmt.Sprintf("%s: %s[%s], partition %d%s: %v", e.Site, e.Op, e.Node, e.Partition, at, e.Err)
}

// Unwrap returns the cause.
func (e *UserError) Unwrap() error { return e.Err }

// A CheckpointError says that the checkpoint of an RDD could not be made after the job that computed it.
type CheckpointError struct {
	RDD  string // as in "map[3]"
	Site string // file and line where it was made
	Err  error
}

func (e *CheckpointError) Error() string {
	return fmt.Sprintf("%s: checkpoint %s: %v", e.Site, e.RDD, e.Err)
}

// Unwrap returns the cause.
func (e *CheckpointError) Unwrap() error { return e.Err }

// A PanicError is the value a function of the program panicked with, as text.
type PanicError struct{ Value string }

func (e *PanicError) Error() string { return "panic: " + e.Value }

// place is what an operator knows of where it runs; it makes the errors that name it.
type place struct {
	node *base
	part int
	seen int64 // records taken before the current chunk
}

// failed wraps what a user function returned for record i of the current chunk.
func (p *place) failed(i int, err error) error {
	return &UserError{Op: p.node.op, Site: p.node.site, Node: p.node.id, Partition: p.part, Offset: p.offset(i), Err: err}
}

// panicked wraps what a user function panicked with at record i of the current chunk.
func (p *place) panicked(i int, value any) error {
	if err, ok := value.(error); ok {
		value = fmt.Sprintf("%T: %v", err, err)
	}
	return &UserError{Op: p.node.op, Site: p.node.site, Node: p.node.id, Partition: p.part, Offset: p.offset(i),
		Stack: string(debug.Stack()), Err: &PanicError{Value: fmt.Sprint(value)}}
}

// onCaller calls functions of the program for an RDD on the caller's goroutine, outside of tasks.
func onCaller(r *base, f func() error) (err error) {
	at := place{node: r, part: -1}
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	return f()
}

func (p *place) offset(i int) int64 {
	if i < 0 {
		return -1
	}
	return p.seen + int64(i)
}

// errNoRoom is why a local checkpoint is not made.
var errNoRoom = errors.New("executors have no room for them")

// errShrunk is the fault of an append function that dropped what it was given.
var errShrunk = errors.New("the function returned a shorter slice than it was given; it must append to it")

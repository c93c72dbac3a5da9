package scheduler

import (
	"errors"
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// ErrClosed is returned by Run once the scheduler has been closed.
var ErrClosed = errors.New("scheduler is closed")

// A TaskError is the failure of one attempt.
type TaskError struct {
	Job, Stage, Partition int
	Attempt               int // attempts of this partition before this one
	Executor              ExecutorID
	Op, Site              string // of the node the stage ends at
	Stack                 string // of a panic, else empty
	Err                   error
}

// Error returns where the attempt ran and why it failed.
func (e *TaskError) Error() string {
	s := fmt.Sprintf("stage %d partition %d attempt %d on %s", e.Stage, e.Partition, e.Attempt, e.Executor)
	if e.Op != "" {
		s += " (" + e.Op
		if e.Site != "" {
			s += " at " + e.Site
		}
		s += ")"
	}
	return s + ": " + text(e.Err)
}

// Unwrap returns the cause.
func (e *TaskError) Unwrap() error { return e.Err }

// A FetchError says that a map output could not be read. It is not a fault of the task that meets
// it: the output is written again and the stage that needs it runs again.
type FetchError struct {
	Shuffle  lineage.ShuffleID
	Map      int // -1 if it is not known which
	Reduce   int
	Executor ExecutorID // who should have held the output; empty if none is known to
	Err      error
}

// Error returns which output could not be had from where.
func (e *FetchError) Error() string {
	from := "no executor"
	if e.Executor != "" {
		from = string(e.Executor)
	}
	return fmt.Sprintf("fetch shuffle %s map %d reduce %d from %s: %s", e.Shuffle, e.Map, e.Reduce, from, text(e.Err))
}

// Unwrap returns the cause.
func (e *FetchError) Unwrap() error { return e.Err }

// A CommitDeniedError is the end of an attempt whose output must not become visible: another attempt of
// its partition has been chosen, or the stage is over. It is not a failure of the task.
type CommitDeniedError struct {
	Stage, Partition int
	Attempt          int // attempts of this partition before this one
}

// Error returns which attempt must not commit.
func (e *CommitDeniedError) Error() string {
	return fmt.Sprintf("stage %d partition %d attempt %d may not commit", e.Stage, e.Partition, e.Attempt)
}

// An ExecutorLostError is the end of an attempt whose executor is gone.
type ExecutorLostError struct {
	Executor ExecutorID
	Err      error
}

// Error returns which executor is gone and why.
func (e *ExecutorLostError) Error() string {
	return fmt.Sprintf("executor %s lost: %s", e.Executor, text(e.Err))
}

// Unwrap returns the cause.
func (e *ExecutorLostError) Unwrap() error { return e.Err }

// A JobError is what Run returns for a job that failed.
type JobError struct {
	Job        int
	Name, Site string
	Err        error
}

// Error returns which action failed, where it was called and why.
func (e *JobError) Error() string {
	return fmt.Sprintf("job %d%s: %s", e.Job, called(e.Name, e.Site), text(e.Err))
}

// Unwrap returns the cause.
func (e *JobError) Unwrap() error { return e.Err }

// A CanceledError is what Run returns for a job whose context ended first. errors.Is finds both the
// context's error and its cause.
type CanceledError struct {
	Job        int // -1 if the job had not started
	Name, Site string
	Err        error // the context's error
	Cause      error // the context's cause
}

// Error returns which action was cancelled and why.
func (e *CanceledError) Error() string {
	cause := e.Cause
	if cause == nil {
		cause = e.Err
	}
	return fmt.Sprintf("job %d%s canceled: %s", e.Job, called(e.Name, e.Site), text(cause))
}

// Unwrap returns the context's error and its cause.
func (e *CanceledError) Unwrap() []error {
	var errs []error
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	if e.Cause != nil && e.Cause != e.Err {
		errs = append(errs, e.Cause)
	}
	return errs
}

// A PanicError is a panic that reached a border the framework guards.
type PanicError struct {
	Value string // the value, printed
	Stack string
}

// Error returns the panic's value, without the stack.
func (e *PanicError) Error() string { return "panic: " + e.Value }

// A CodecError says that something could not be turned into bytes or back. The same would happen
// again, so it is permanent.
type CodecError struct {
	Doing string // as in "encode result"
	Err   error
}

// Error returns what was being done and why it cannot be.
func (e *CodecError) Error() string { return e.Doing + ": " + text(e.Err) }

// Unwrap returns the cause.
func (e *CodecError) Unwrap() error { return e.Err }

// Permanent reports true: another attempt would end the same way.
func (e *CodecError) Permanent() bool { return true }

// A RemoteError stands for an error of another process whose type does not cross the border.
type RemoteError struct {
	Type string // the type's name there
	Text string
	// Errs are the errors it wrapped, as far as they crossed.
	Errs []error
	// Final is set if the error said of itself that it is permanent.
	Final bool
}

// Error returns the text of the original.
func (e *RemoteError) Error() string { return e.Text }

// Unwrap returns the errors the original wrapped.
func (e *RemoteError) Unwrap() []error { return e.Errs }

// Permanent reports whether the original said that another attempt cannot help.
func (e *RemoteError) Permanent() bool { return e.Final }

// Retryable reports whether another attempt of a task that ended with err may succeed. It is false
// for an error that says so itself, with a method Permanent() bool anywhere in its tree; all others
// are worth another attempt. Every decision to retry a task is made here.
func Retryable(err error) bool { return err != nil && !permanent(err) }

func permanent(err error) bool {
	if p, ok := err.(interface{ Permanent() bool }); ok && p.Permanent() {
		return true
	}
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		inner := u.Unwrap()
		return inner != nil && permanent(inner)
	case interface{ Unwrap() []error }:
		for _, inner := range u.Unwrap() {
			if inner != nil && permanent(inner) {
				return true
			}
		}
	}
	return false
}

func called(name, site string) string {
	switch {
	case name == "":
		return ""
	case site == "":
		return " (" + name + ")"
	}
	return " (" + name + " at " + site + ")"
}

func text(err error) string {
	if err == nil {
		return "no reason known"
	}
	return fmt.Sprint(err) // which survives a text of the program's that panics
}

var errBackendEnded = errors.New("the backend has stopped serving executors")

// errNotNeeded is why a map stage is given up when the job it reran for is over.
var errNotNeeded = errors.New("no job needs the stage any more")

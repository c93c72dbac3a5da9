package scheduler

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/leat-io/leat/lineage"
)

// ErrClosed is returned by Run once the scheduler has been closed.
var ErrClosed = errors.New("scheduler is closed")

// ErrCanceled is found by errors.Is in what Run returns for a job that was cancelled, whoever did it.
var ErrCanceled = errors.New("canceled")

// ErrCannotRollBack is why a job fails that has been given results and lost an output they may have
// been made of, where writing the output again may bring other rows.
var ErrCannotRollBack = errors.New("what was delivered cannot be rolled back")

// ErrListenerStuck is returned by Close if a listener does not return from a call.
var ErrListenerStuck = errors.New("a listener does not return")

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

// A CanceledError is what Run returns for a job that was cancelled. errors.Is finds ErrCanceled and,
// where the job's context ended first, the context's error and its cause.
type CanceledError struct {
	Job        int // -1 if the job had not started
	Name, Site string
	Err        error // the context's error, or ErrCanceled
	Cause      error // the context's cause, or what was asked for
}

// Error returns which action was cancelled and why.
func (e *CanceledError) Error() string {
	cause := e.Cause
	if cause == nil {
		cause = e.Err
	}
	return fmt.Sprintf("job %d%s canceled: %s", e.Job, called(e.Name, e.Site), text(cause))
}

// Is reports whether target is ErrCanceled.
func (e *CanceledError) Is(target error) bool { return target == ErrCanceled }

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

// A ResultSizeError says that the results of one attempt of a stage were larger than
// Options.MaxResultSize. The same would happen again, so it is permanent.
type ResultSizeError struct {
	Stage, Results int // how many results there were
	Bytes, Limit   int64
}

// Error returns how large the results were and how large they may be.
func (e *ResultSizeError) Error() string {
	return fmt.Sprintf("%d results of stage %d have %d bytes, the limit is %d", e.Results, e.Stage, e.Bytes, e.Limit)
}

// Permanent reports true: another attempt would end the same way.
func (e *ResultSizeError) Permanent() bool { return true }

// An OutputExistsError says that what a task was to write is there already, and not by the same job.
// Another attempt would find it again, so it is permanent. errors.Is finds fs.ErrExist.
type OutputExistsError struct {
	Path string
	Err  error
}

// Error returns what is there already.
func (e *OutputExistsError) Error() string {
	if e.Err == nil {
		return "output " + e.Path + " exists"
	}
	return "output " + e.Path + " exists: " + text(e.Err)
}

// Is reports whether target is fs.ErrExist.
func (e *OutputExistsError) Is(target error) bool { return target == fs.ErrExist }

// Unwrap returns the cause.
func (e *OutputExistsError) Unwrap() error { return e.Err }

// Permanent reports true: another attempt would end the same way.
func (e *OutputExistsError) Permanent() bool { return true }

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

// errPartlyLost is why what others have made of a shuffle's outputs is rolled back when some of them are to
// be written again.
var errPartlyLost = errors.New("some outputs of an indeterminate stage are gone")

// errNotNeeded is why a map stage is given up when the job it reran for is over.
var errNotNeeded = errors.New("no job needs the stage any more")

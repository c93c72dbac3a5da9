package driverlog

import (
	"errors"
	"fmt"
)

// Refused reports whether err says that Step looked at a command and refused it. The command then
// had no effect and will have none.
func Refused(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

// refusal is what the error types of Step have in common.
type refusal interface {
	error
	refused()
}

// A CommandError says that a command is malformed.
type CommandError struct {
	Kind   Kind
	Field  string
	Reason string
}

// Error returns the field and what it must be.
func (e *CommandError) Error() string { return fmt.Sprintf("%s: %s %s", e.Kind, e.Field, e.Reason) }

// A FencedError says that a command carries an epoch other than the latest. The proposer's term is
// over and its run must end.
type FencedError struct {
	Have uint64 // the epoch of the state, 0 before the first LeaderStart
	Got  uint64 // the epoch of the command
}

// Error returns both epochs.
func (e *FencedError) Error() string {
	return fmt.Sprintf("epoch %d is fenced off, epoch %d leads", e.Got, e.Have)
}

// A RequestError says that a request id was used before, for another command.
type RequestError struct {
	Request RequestID
	Was     Kind  // what the earlier command was
	Batch   int64 // its batch
}

// Error returns the id and what it stood for.
func (e *RequestError) Error() string {
	return fmt.Sprintf("request %d/%d already names %s of batch %d", e.Request.Proposer, e.Request.Seq, e.Was, e.Batch)
}

// A DenseError says that a Begin does not carry the next batch id.
type DenseError struct {
	App       string
	Want, Got int64
}

// Error returns the id wanted and the one given.
func (e *DenseError) Error() string {
	return fmt.Sprintf("application %s: begin of batch %d, next is %d", e.App, e.Got, e.Want)
}

// A TimeError says that a Begin does not carry a later time than the batch before it.
type TimeError struct {
	App       string
	Last, Got int64 // milliseconds; a proposer whose clock is behind takes Last plus an interval
}

// Error returns both times.
func (e *TimeError) Error() string {
	return fmt.Sprintf("application %s: batch time %d ms is not after %d ms", e.App, e.Got, e.Last)
}

// A WindowError says that an application has as many open batches as it may have.
type WindowError struct {
	App    string
	Oldest int64 // the batch to commit first
	Open   int
}

// Error returns the count and the oldest open batch.
func (e *WindowError) Error() string {
	return fmt.Sprintf("application %s: %d batches are open, the oldest is %d", e.App, e.Open, e.Oldest)
}

// An OrderError says that a Prepared or Committed names a batch whose turn it is not.
type OrderError struct {
	Kind  Kind
	App   string
	Batch int64
	Want  int64 // the batch whose turn it is, -1 if there is none
}

// Error returns the batch named and the one whose turn it is.
func (e *OrderError) Error() string {
	if e.Want < 0 {
		return fmt.Sprintf("application %s: %s of batch %d, no batch is due", e.App, e.Kind, e.Batch)
	}
	return fmt.Sprintf("application %s: %s of batch %d, batch %d is due", e.App, e.Kind, e.Batch, e.Want)
}

// A ConflictError says that a batch has been prepared with another manifest. That one stands.
type ConflictError struct {
	App   string
	Batch int64
}

// Error returns the batch.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("application %s: batch %d is prepared with another manifest", e.App, e.Batch)
}

// A ZeroTimeError says that an application has been registered with another zero time. That one stands, as the times of
// all its batches are counted from it.
type ZeroTimeError struct {
	App       string
	Have, Got int64 // milliseconds
}

// Error returns both times.
func (e *ZeroTimeError) Error() string {
	return fmt.Sprintf("application %s: zero time %d ms is registered, not %d ms", e.App, e.Have, e.Got)
}

// A CheckpointError says that a Checkpointed does not follow what is decided: it must name a committed batch of a registered
// application, and neither its batch nor its keep may be before those of the last checkpoint.
type CheckpointError struct {
	App         string
	Batch, Keep int64  // of the command
	Reason      string // what is wrong with them
}

// Error returns the checkpoint and what is wrong with it.
func (e *CheckpointError) Error() string {
	return fmt.Sprintf("application %s: checkpoint of batch %d that keeps from %d on: %s", e.App, e.Batch, e.Keep, e.Reason)
}

// A LimitError says that the state would hold more than it may.
type LimitError struct {
	What  string
	Limit int
}

// Error returns what there is too much of.
func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s", e.Limit, e.What) }

// An IndexError says that a log fed Step an index that is not past the state's. It is a defect of
// the log, not of the proposer.
type IndexError struct {
	Have, Got uint64
}

// Error returns both indexes.
func (e *IndexError) Error() string {
	return fmt.Sprintf("log index %d is not after %d", e.Got, e.Have)
}

// A CorruptError says that bytes are not an encoding that this package writes.
type CorruptError struct {
	What   string // the part that does not fit
	Offset int    // where it was met
}

// Error returns the part and its offset.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt driver log record: %s at byte %d", e.What, e.Offset)
}

// A VersionError says that bytes are of a format version that this build does not know. They must
// not be skipped: a node that cannot read a decision must stop.
type VersionError struct {
	Got, Known int
}

// Error returns both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("driver log format version %d, this build knows %d", e.Got, e.Known)
}

func (*CommandError) refused()    {}
func (*FencedError) refused()     {}
func (*RequestError) refused()    {}
func (*DenseError) refused()      {}
func (*TimeError) refused()       {}
func (*WindowError) refused()     {}
func (*OrderError) refused()      {}
func (*ConflictError) refused()   {}
func (*LimitError) refused()      {}
func (*ZeroTimeError) refused()   {}
func (*CheckpointError) refused() {}

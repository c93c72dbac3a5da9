package scheduler

import (
	"context"

	"github.com/leat-io/leat/lineage"
)

// ExecutorID names an executor. An id that registers again counts as a new executor.
type ExecutorID string

// TaskID numbers the attempts of one scheduler, from 1. It is never reused.
type TaskID int64

// A Backend owns executors: it starts tasks on them and reports what became of them.
//
// The scheduler calls Launch, Cancel and Drop from its loop only, one at a time, and none of them
// may block or call back into the sink's owner. It never launches more attempts on an executor than
// the executor has slots; an attempt holds its slot until its end has been reported.
type Backend interface {
	// Run reports the executors to sink and serves them until ctx is done, then stops every task and
	// returns when all of them are over. The scheduler calls it once, on a goroutine of its own. A
	// return before ctx is done fails all jobs.
	Run(ctx context.Context, sink Sink) error
	// Launch starts one attempt on task.Executor. The task is read only from here on. Launching on an
	// executor that is gone does nothing: its loss is, or will be, reported.
	Launch(task *Task)
	// Cancel cancels the context of a running attempt; its end is still reported. An attempt that is
	// unknown or over is left alone.
	Cancel(id TaskID)
	// Drop makes all executors forget blocks.
	Drop(d lineage.Drop)
}

// A Sink takes a backend's reports. Its methods return at once and may be called from any
// goroutine. Reports about one executor must come in the order of the facts; a report about an
// unknown executor, or about an attempt that is over, is ignored.
type Sink interface {
	ExecutorAdded(e ExecutorInfo)
	ExecutorLost(id ExecutorID, loss Loss)
	TaskEnded(end *TaskEnd)
	// BlocksLost says that an executor no longer holds persisted partitions, other than because it was
	// told to drop them.
	BlocksLost(id ExecutorID, blocks []BlockID)
	// MayCommit reports whether a running attempt is the one of its partition whose output may become
	// visible.
	MayCommit(id TaskID) bool
}

// An ExecutorInfo describes an executor.
type ExecutorInfo struct {
	ID    ExecutorID
	Host  string // what Preferred of a node may name besides the id
	Slots int
}

// A Loss says why an executor is gone.
type Loss struct {
	// Err is the reason, nil if unknown.
	Err error
	// Blameless is set where the tasks on the executor cannot be the cause: it was stopped, preempted
	// or killed on purpose. Attempts lost that way do not count as failures.
	Blameless bool
}

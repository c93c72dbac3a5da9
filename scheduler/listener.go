package scheduler

import (
	"github.com/leat-io/leat/lineage"
)

// A Listener is told what the scheduler does. Any function may be nil.
//
// Order: calls come one at a time, from one goroutine per listener, some time after the fact: a job's
// start, then its stages' submissions, then their tasks; every started attempt ends once, also after its
// stage or job is over, and before the completion of the stage and the end of the job that it brings about.
// An attempt of a stage that was submitted is completed once.
//
// A slow listener loses events once its queue is full: they are counted, and a warning is logged once in a
// while. A panic in one is logged. Neither holds up scheduling nor other listeners. Close delivers what is
// queued, but gives up on a listener that does not return from a call (Options.ListenerPatience). A
// returned Run does not mean that the job's end has been delivered.
//
// What an event points to must not be changed.
type Listener struct {
	JobStarted     func(JobStarted)
	JobEnded       func(JobEnded)
	StageSubmitted func(StageSubmitted)
	StageCompleted func(StageCompleted)
	TaskStarted    func(TaskStarted)
	TaskEnded      func(TaskEnded)
	// TaskCopied is told of a running attempt that is so slow that a copy will be run.
	TaskCopied    func(slow TaskStarted)
	ExecutorAdded func(e ExecutorInfo)
	ExecutorLost  func(id ExecutorID, loss Loss)
	// ExecutorExcluded and ExecutorReadmitted are told of executors, or whole hosts, that get no tasks any
	// more, of a stage or at all, and of those that get some again.
	ExecutorExcluded   func(Excluded)
	ExecutorReadmitted func(Excluded)
	// Unschedulable is told of stages that have a task which may run nowhere.
	Unschedulable func(Unschedulable)
	// BlockUpdated is told of persisted partitions that an executor holds from now on or no longer. Those of
	// a lost executor, and those dropped with a node or scope, have no event of their own.
	BlockUpdated func(BlockUpdated)
	// Unpersisted is told what scheduler and executors forget.
	Unpersisted func(lineage.Drop)
	// Dropped is told how many events were dropped since the last call, as soon as there is room.
	Dropped func(events int)
}

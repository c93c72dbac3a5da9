package schedulertest

import (
	"context"
	"slices"
	"sync"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// Scripted is a backend without executors of its own: a test adds and loses them, sees what is
// launched and says how it ends. The zero value is ready. mu guards all fields.
type Scripted struct {
	mu       sync.Mutex
	sink     scheduler.Sink
	early    []func(scheduler.Sink) // reports from before Run
	launched []*scheduler.Task
	canceled []scheduler.TaskID
	dropped  []lineage.Drop
	changed  changes
}

var _ scheduler.Backend = (*Scripted)(nil)

// Run passes on the test's reports until ctx is done.
func (s *Scripted) Run(ctx context.Context, sink scheduler.Sink) error {
	s.mu.Lock()
	s.sink = sink
	for _, report := range s.early {
		report(sink)
	}
	s.early = nil
	s.mu.Unlock()
	<-ctx.Done()
	return nil
}

// Launch records a task.
func (s *Scripted) Launch(task *scheduler.Task) {
	s.change(func() { s.launched = append(s.launched, task) })
}

// Cancel records a cancellation. The test says when the task ends.
func (s *Scripted) Cancel(id scheduler.TaskID) {
	s.change(func() { s.canceled = append(s.canceled, id) })
}

// Drop records what was dropped.
func (s *Scripted) Drop(d lineage.Drop) {
	s.change(func() { s.dropped = append(s.dropped, d) })
}

func (s *Scripted) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.changed.tell()
}

func (s *Scripted) report(f func(scheduler.Sink)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sink == nil {
		s.early = append(s.early, f)
		return
	}
	f(s.sink)
}

// Add reports a new executor.
func (s *Scripted) Add(id scheduler.ExecutorID, slots int) {
	s.report(func(sink scheduler.Sink) {
		sink.ExecutorAdded(scheduler.ExecutorInfo{ID: id, Host: string(id), Slots: slots})
	})
}

// Lose reports an executor's loss.
func (s *Scripted) Lose(id scheduler.ExecutorID, loss scheduler.Loss) {
	s.report(func(sink scheduler.Sink) { sink.ExecutorLost(id, loss) })
}

// End reports the end of an attempt, whatever it says.
func (s *Scripted) End(end *scheduler.TaskEnd) {
	s.report(func(sink scheduler.Sink) { sink.TaskEnded(end) })
}

// Succeed reports that a task has succeeded: a map task with rows for every reducer, a result task
// with result.
func (s *Scripted) Succeed(task *scheduler.Task, result lineage.Block) { s.End(Success(task, result)) }

// Fail reports that a task has failed.
func (s *Scripted) Fail(task *scheduler.Task, err error) {
	s.End(&scheduler.TaskEnd{Task: task.ID, Err: err})
}

// Success returns the report of a success.
func Success(task *scheduler.Task, result lineage.Block) *scheduler.TaskEnd {
	end := &scheduler.TaskEnd{Task: task.ID, Result: result}
	if s := task.Shuffle; s != nil {
		sizes := make([]int64, s.NumReducers)
		for r := range sizes {
			sizes[r] = 1
		}
		end.Status.Sizes = scheduler.SizesOf(sizes)
	}
	return end
}

// MayCommit asks the scheduler for an attempt. Without a scheduler none may.
func (s *Scripted) MayCommit(id scheduler.TaskID) bool {
	s.mu.Lock()
	sink := s.sink
	s.mu.Unlock()
	return sink != nil && sink.MayCommit(id)
}

// Launched returns the tasks launched so far, in order.
func (s *Scripted) Launched() []*scheduler.Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.launched)
}

// Canceled returns the attempts cancelled so far, in order.
func (s *Scripted) Canceled() []scheduler.TaskID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.canceled)
}

// Dropped returns what was dropped so far, in order.
func (s *Scripted) Dropped() []lineage.Drop {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.dropped)
}

// Wait returns when ok says so about the backend, or with ctx's error. ok is asked now and after
// every launch, cancellation and drop.
func (s *Scripted) Wait(ctx context.Context, ok func() bool) error {
	return s.changed.wait(ctx, &s.mu, ok)
}

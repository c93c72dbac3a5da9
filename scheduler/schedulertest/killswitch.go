package schedulertest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// A Fate is what a KillSwitch does with one attempt.
type Fate uint8

const (
	// Run lets the attempt be.
	Run Fate = iota
	// Fail ends it with ErrKillSwitch before it has begun.
	Fail
	// Hang never runs it: it ends when it is cancelled.
	Hang
	// Hold runs it when it is released.
	Hold
	// Kill loses its executor before it has begun, and adds another. The backend must be a Cluster.
	Kill
	// KillAfter lets it run and loses its executor, and its report, when it has; another is added.
	KillAfter
	// Late keeps its report back until it is released, be its executor lost by then or not.
	Late
	// Twice brings its report twice.
	Twice
)

// ErrKillSwitch is how an attempt ends that was made to fail.
var ErrKillSwitch = errors.New("killed by the switch")

// A KillSwitch is a backend that does harm to chosen attempts of another one. It keeps the promises of a
// backend, except where a fate says that it does not. Its methods may be called from any goroutine.
//
//	k := &schedulertest.KillSwitch{Backend: local.New(opts), Decide: func(t *scheduler.Task) schedulertest.Fate {
//		if t.Attempt.Number == 0 && rng.IntN(10) == 0 {
//			return schedulertest.Fail
//		}
//		return schedulertest.Run
//	}}
//	s := scheduler.New(k, scheduler.Options{})
type KillSwitch struct {
	Backend scheduler.Backend
	// Decide returns the fate of an attempt. It is called when the attempt is launched, from the
	// scheduler's loop, and must be quick. nil lets all be.
	Decide func(task *scheduler.Task) Fate

	calls sync.Mutex // held while Backend is called, which is done one at a time
	work  sync.WaitGroup

	mu      sync.Mutex // guards what follows; nothing is called while it is held
	sink    scheduler.Sink
	stopped bool
	fates   map[scheduler.TaskID]Fate
	on      map[scheduler.TaskID]scheduler.ExecutorID // of attempts to be killed after
	waiting []*scheduler.Task                         // held and hanging, in order of launch
	late    map[scheduler.TaskID]*scheduler.TaskEnd   // kept back
	lateIDs []scheduler.TaskID                        // in order of report
	seen    [Twice + 1]int
	changed changes
}

var _ Cluster = (*KillSwitch)(nil)

// Run runs the backend.
func (k *KillSwitch) Run(ctx context.Context, sink scheduler.Sink) error {
	k.mu.Lock()
	k.sink = sink
	k.fates, k.late = map[scheduler.TaskID]Fate{}, map[scheduler.TaskID]*scheduler.TaskEnd{}
	k.on = map[scheduler.TaskID]scheduler.ExecutorID{}
	k.mu.Unlock()
	err := k.Backend.Run(ctx, switched{k, sink})
	k.change(func() { k.stopped, k.waiting = true, nil })
	k.work.Wait()
	return err
}

// Launch starts an attempt, or does what was decided instead.
func (k *KillSwitch) Launch(task *scheduler.Task) {
	fate := Run
	if k.Decide != nil {
		fate = k.Decide(task)
	}
	k.change(func() {
		k.seen[fate]++
		switch fate {
		case Hang, Hold:
			k.waiting = append(k.waiting, task)
			k.fates[task.ID] = fate
		case KillAfter, Late, Twice:
			k.fates[task.ID] = fate
			k.on[task.ID] = task.Executor
		}
	})
	switch fate {
	case Hang, Hold:
	case Fail:
		k.later(func(sink scheduler.Sink) { sink.TaskEnded(&scheduler.TaskEnd{Task: task.ID, Err: ErrKillSwitch}) })
	case Kill:
		k.later(func(scheduler.Sink) { k.replace(task.Executor) })
	default:
		k.calls.Lock()
		defer k.calls.Unlock()
		k.Backend.Launch(task)
	}
}

// Cancel cancels an attempt, also one that was not let run.
func (k *KillSwitch) Cancel(id scheduler.TaskID) {
	if task := k.take(id); task != nil {
		k.later(func(sink scheduler.Sink) { sink.TaskEnded(&scheduler.TaskEnd{Task: id, Err: context.Canceled}) })
		return
	}
	k.calls.Lock()
	defer k.calls.Unlock()
	k.Backend.Cancel(id)
}

// Drop makes the executors forget blocks.
func (k *KillSwitch) Drop(d lineage.Drop) {
	k.calls.Lock()
	defer k.calls.Unlock()
	k.Backend.Drop(d)
}

// Kill loses an executor of a Cluster.
func (k *KillSwitch) Kill(id scheduler.ExecutorID) bool {
	c, ok := k.Backend.(Cluster)
	return ok && c.Kill(id)
}

// Add brings one more executor to a Cluster.
func (k *KillSwitch) Add() scheduler.ExecutorID {
	if c, ok := k.Backend.(Cluster); ok {
		return c.Add()
	}
	return ""
}

// replace loses an executor and adds another.
func (k *KillSwitch) replace(id scheduler.ExecutorID) {
	if k.Kill(id) {
		k.Add()
	}
}

// Held returns the attempts that hang or are held, in the order they were launched.
func (k *KillSwitch) Held() []*scheduler.Task {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.waiting)
}

// Seen returns how many attempts have met a fate.
func (k *KillSwitch) Seen(f Fate) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.seen[f]
}

// Release runs a held attempt, or brings a late report. It reports whether there was one.
func (k *KillSwitch) Release(id scheduler.TaskID) bool {
	k.mu.Lock()
	end, sink := k.late[id], k.sink
	delete(k.late, id)
	k.lateIDs = slices.DeleteFunc(k.lateIDs, func(l scheduler.TaskID) bool { return l == id })
	hangs := k.fates[id] == Hang
	k.mu.Unlock()
	if end != nil {
		sink.TaskEnded(end)
		return true
	}
	if hangs {
		return false
	}
	task := k.take(id)
	if task == nil {
		return false
	}
	k.calls.Lock()
	defer k.calls.Unlock()
	k.Backend.Launch(task)
	return true
}

// ReleaseAll releases what can be and returns how many that were.
func (k *KillSwitch) ReleaseAll() int {
	k.mu.Lock()
	ids := slices.Clone(k.lateIDs)
	for _, task := range k.waiting {
		ids = append(ids, task.ID)
	}
	k.mu.Unlock()
	n := 0
	for _, id := range ids {
		if k.Release(id) {
			n++
		}
	}
	return n
}

// Wait returns when ok says so, or with ctx's error. ok is asked now and whenever an attempt was launched, a
// report came or an attempt was released.
func (k *KillSwitch) Wait(ctx context.Context, ok func() bool) error {
	return k.changed.wait(ctx, &k.mu, ok)
}

// take takes an attempt out of those that hang or are held.
func (k *KillSwitch) take(id scheduler.TaskID) (task *scheduler.Task) {
	k.change(func() {
		if i := slices.IndexFunc(k.waiting, func(t *scheduler.Task) bool { return t.ID == id }); i >= 0 {
			task = k.waiting[i]
			k.waiting = slices.Delete(k.waiting, i, i+1)
			delete(k.fates, id)
		}
	})
	return task
}

func (k *KillSwitch) change(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
	k.changed.tell()
}

// later does something on a goroutine that Run waits for: a backend may not report from within a call.
func (k *KillSwitch) later(f func(scheduler.Sink)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped || k.sink == nil {
		return
	}
	sink := k.sink
	k.work.Go(func() { f(sink) })
}

// A switched is the sink of the backend behind a switch.
type switched struct {
	k *KillSwitch
	scheduler.Sink
}

// ExecutorLost also ends what was held for the executor.
func (s switched) ExecutorLost(id scheduler.ExecutorID, loss scheduler.Loss) {
	s.k.change(func() {
		s.k.waiting = slices.DeleteFunc(s.k.waiting, func(t *scheduler.Task) bool { return t.Executor == id })
	})
	s.Sink.ExecutorLost(id, loss)
}

// TaskEnded passes a report on as its attempt's fate has it.
func (s switched) TaskEnded(end *scheduler.TaskEnd) {
	var fate Fate
	var on scheduler.ExecutorID
	s.k.change(func() {
		fate, on = s.k.fates[end.Task], s.k.on[end.Task]
		delete(s.k.fates, end.Task)
		delete(s.k.on, end.Task)
		if fate == Late {
			s.k.late[end.Task] = end
			s.k.lateIDs = append(s.k.lateIDs, end.Task)
		}
	})
	switch fate {
	case Late:
	case KillAfter:
		s.k.later(func(scheduler.Sink) { s.k.replace(on) })
	case Twice:
		s.Sink.TaskEnded(end)
		s.Sink.TaskEnded(end)
	default:
		s.Sink.TaskEnded(end)
	}
}

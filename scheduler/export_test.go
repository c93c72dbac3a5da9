package scheduler

import (
	"slices"
	"time"

	"github.com/leat-io/leat/lineage"
)

// A ScriptLoop is the event handler without goroutines: events are handled as they are given, and
// those posted for later wait for Fire.
type ScriptLoop struct {
	l     *loop
	later []later
	clock time.Time
}

// A later is an event and when it is due.
type later struct {
	at time.Time
	ev event
}

// NewScriptLoop returns a loop over backend whose listener is called at once.
func NewScriptLoop(backend Backend, opts Options) *ScriptLoop {
	s := &ScriptLoop{clock: time.Unix(0, 0)}
	opts = opts.withDefaults()
	var deliveries []*delivery
	for _, li := range opts.Listeners {
		deliveries = append(deliveries, newDelivery(li, opts.ListenerQueue, opts.Logger))
	}
	s.l = newLoop(backend, opts, newRegistry(), deliveries, func(d time.Duration, ev event) {
		s.later = append(s.later, later{s.clock.Add(d), ev})
	})
	s.l.now = func() time.Time { return s.clock }
	return s
}

func (s *ScriptLoop) handle(ev event) {
	s.l.handle(ev)
	for _, d := range s.l.deliveries {
		d.mu.Lock()
		queue := d.queue
		d.queue = nil
		d.mu.Unlock()
		for _, event := range queue {
			event(&d.listener)
		}
	}
}

// Submit hands in a job and returns a function that cancels it.
func (s *ScriptLoop) Submit(spec lineage.Job) (cancel func(err error)) {
	j := newJob(spec, s.l.registry.kept)
	s.handle(jobSubmitted{j})
	return func(err error) { s.handle(jobCanceled{j, err, err}) }
}

// Fire handles what was posted for later.
func (s *ScriptLoop) Fire() {
	later := s.later
	s.later = nil
	for _, l := range later {
		s.handle(l.ev)
	}
}

// Advance moves the clock and handles what is due on the way, when it is due.
func (s *ScriptLoop) Advance(d time.Duration) {
	until := s.clock.Add(d)
	for {
		next := -1
		for i, l := range s.later {
			if !l.at.After(until) && (next < 0 || l.at.Before(s.later[next].at)) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		l := s.later[next]
		s.later = append(s.later[:next:next], s.later[next+1:]...)
		if l.at.After(s.clock) {
			s.clock = l.at
		}
		s.handle(l.ev)
	}
	s.clock = until
}

// Pending returns how many events wait for Fire.
func (s *ScriptLoop) Pending() int { return len(s.later) }

// The methods of Sink.
func (s *ScriptLoop) ExecutorAdded(e ExecutorInfo)               { s.handle(executorAdded{e}) }
func (s *ScriptLoop) ExecutorLost(id ExecutorID, loss Loss)      { s.handle(executorLost{id, loss}) }
func (s *ScriptLoop) BlocksLost(id ExecutorID, blocks []BlockID) { s.handle(blocksLost{id, blocks}) }
func (s *ScriptLoop) MayCommit(id TaskID) bool                   { return s.l.commits.may(id) }
func (s *ScriptLoop) TaskEnded(end *TaskEnd)                     { s.handle(end) }

// The methods of Scheduler that cancel.
func (s *ScriptLoop) CancelGroup(group string, future bool) { s.handle(cancelGroup(group, future)) }
func (s *ScriptLoop) CancelTag(tag string)                  { s.handle(cancelTag(tag)) }
func (s *ScriptLoop) CancelJob(id int)                      { s.handle(cancelJob(id)) }
func (s *ScriptLoop) CancelStage(id int)                    { s.handle(cancelStage(id)) }
func (s *ScriptLoop) CancelAll()                            { s.handle(cancelAll()) }

// CanceledGroups returns of how many groups later jobs fail.
func (s *ScriptLoop) CanceledGroups() int { return len(s.l.canceledGroups) }

// Forget drops blocks.
func (s *ScriptLoop) Forget(d lineage.Drop) { s.handle(forget{d}) }

// Close ends the loop.
func (s *ScriptLoop) Close() { s.handle(closing{}) }

// BackendEnded reports that the backend has returned.
func (s *ScriptLoop) BackendEnded(err error) { s.handle(backendEnded{err}) }

// Epoch returns the loop's epoch.
func (s *ScriptLoop) Epoch() int64 { return s.l.registry.epoch }

// Available returns how many outputs of a shuffle are registered, and out of how many.
func (s *ScriptLoop) Available(id lineage.ShuffleID) (have, maps int) {
	if o := s.l.registry.shuffle(id); o != nil {
		return o.have, len(o.maps)
	}
	return 0, 0
}

// Idle reports whether the loop holds nothing of any job any more.
func (s *ScriptLoop) Idle() bool {
	l := s.l
	return len(l.jobs)+len(l.stages)+len(l.waiting)+len(l.failed)+len(l.sets)+len(l.running) == 0 && l.deferred.Empty() &&
		(l.pools == nil || len(l.pools.byName) == len(l.opts.Pools) && l.pools.root.running == 0)
}

// Slots returns the free slots, in total and summed over executors.
func (s *ScriptLoop) Slots() (total, sum int) {
	for _, ex := range s.l.executors {
		sum += ex.free
	}
	return s.l.free, sum
}

// Deliveries returns how many listeners a scheduler keeps track of.
func Deliveries(s *Scheduler) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.deliveries)
}

// AwaitDeliveries waits until the goroutines of all removed listeners have ended.
func AwaitDeliveries(s *Scheduler) {
	s.mu.Lock()
	removed := slices.DeleteFunc(slices.Clone(s.deliveries), func(d *delivery) bool { return !d.removed })
	s.mu.Unlock()
	for _, d := range removed {
		<-d.over
	}
}

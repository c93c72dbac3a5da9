package scheduler

import (
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/leat-io/leat/lineage"
)

// A Listener is told what the scheduler does. Any function may be nil.
//
// Calls come one at a time, from one goroutine per listener, some time after the fact: a job's start,
// then its stages' submissions, then their tasks; every started attempt ends once, before the
// completion of the stage and the end of the job it brings about. A slow listener loses events once
// its queue is full, and a panic in one is logged; neither holds up scheduling. Close delivers what
// is queued. A returned Run does not mean that the job's end has been delivered.
type Listener struct {
	JobStarted     func(JobStarted)
	JobEnded       func(JobEnded)
	StageSubmitted func(StageSubmitted)
	StageCompleted func(StageCompleted)
	TaskStarted    func(TaskStarted)
	TaskEnded      func(TaskEnded)
	ExecutorAdded  func(e ExecutorInfo)
	ExecutorLost   func(id ExecutorID, loss Loss)
	// Dropped is told how many events were dropped since the last call, as soon as there is room.
	Dropped func(events int)
}

// JobStarted says that a job was accepted.
type JobStarted struct {
	Job        int
	Name, Site string
	Scope      lineage.Scope
	// Stages are all stages of the job, parents first, also those that will be skipped because their
	// outputs are there. The last one brings the results.
	Stages []StageInfo
}

// StageInfo describes a stage.
type StageInfo struct {
	Stage    int
	Op, Site string // of the node it ends at
	Map      bool
	Shuffle  lineage.ShuffleID // what a map stage writes
}

// JobEnded says that a job is over; Err is what Run returns.
type JobEnded struct {
	Job int
	Err error
}

// StageSubmitted says that an attempt of a stage begins with so many tasks.
type StageSubmitted struct {
	StageInfo
	Attempt, Tasks int
}

// StageCompleted says that an attempt of a stage is over; Err is the reason if it did not finish.
type StageCompleted struct {
	StageInfo
	Attempt int
	Err     error
}

// TaskStarted says that an attempt was launched.
type TaskStarted struct {
	Task     TaskID
	Attempt  lineage.Attempt
	Executor ExecutorID
}

// TaskEnded says that an attempt is over.
type TaskEnded struct {
	TaskStarted
	Err error
}

// A delivery brings events to one listener. mu guards queue, dropped and closed.
type delivery struct {
	listener Listener
	limit    int
	log      *slog.Logger

	mu      sync.Mutex
	queue   []func(*Listener)
	dropped int
	closed  bool
	wake    chan struct{} // holds one token while the queue may have something
}

func newDelivery(l Listener, limit int, log *slog.Logger) *delivery {
	return &delivery{listener: l, limit: limit, log: log, wake: make(chan struct{}, 1)}
}

// put queues an event or, if the queue is full, counts it as dropped.
func (d *delivery) put(event func(*Listener)) {
	d.mu.Lock()
	if len(d.queue) < d.limit {
		d.queue = append(d.queue, event)
	} else {
		d.dropped++
	}
	d.mu.Unlock()
	d.ring()
}

// close makes run return once the queue is empty.
func (d *delivery) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.ring()
}

func (d *delivery) ring() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// run delivers until close.
func (d *delivery) run() {
	for range d.wake {
		for {
			d.mu.Lock()
			batch, dropped, closed := d.queue, d.dropped, d.closed
			d.queue, d.dropped = nil, 0
			d.mu.Unlock()
			d.callAll(batch)
			if dropped > 0 {
				d.log.Warn("listener is too slow", "dropped", dropped)
				d.callAll([]func(*Listener){func(l *Listener) {
					if l.Dropped != nil {
						l.Dropped(dropped)
					}
				}})
			}
			if len(batch) == 0 && closed {
				return
			}
			if len(batch) == 0 {
				break
			}
		}
	}
}

// callAll calls the listener for each event, on goroutines of which a listener may end one with runtime.Goexit, as
// a failing test assertion does.
func (d *delivery) callAll(events []func(*Listener)) {
	for next := 0; next < len(events); {
		returned := false
		var wg sync.WaitGroup
		wg.Go(func() {
			for next < len(events) {
				i := next
				next++
				d.call(events[i])
			}
			returned = true
		})
		wg.Wait()
		if !returned {
			d.log.Error("listener ended its goroutine")
		}
	}
}

func (d *delivery) call(event func(*Listener)) {
	defer func() {
		if v := recover(); v != nil {
			d.log.Error("listener panicked", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	event(&d.listener)
}

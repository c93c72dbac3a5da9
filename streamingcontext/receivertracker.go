package streamingcontext

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/leat-io/leat/scheduler"
)

// A receiverTracker keeps the receivers of a context: where each of them runs, what is known of it, and what its rate
// is. A receiver runs in this process, whatever executor it is placed on; to be placed there means that the tasks which read
// its blocks go there first.
type receiverTracker struct {
	c *Context

	mu        sync.Mutex // guards the fields below
	receivers []*receiverState
	executors []scheduler.ExecutorInfo // as of the last placement
}

// receiverState is one receiver. The tracker's mu guards all of it but the controller, which is set before any receiver
// runs.
type receiverState struct {
	place   placed
	info    ReceiverInfo
	sup     limited         // its supervisor, nil before it is launched
	control *rateController // nil unless the rate follows the batches
}

// limited is what has a rate.
type limited interface {
	SetRate(perSecond int64)
	Rate() int64
}

func (t *receiverTracker) add(stream int, name, preferred string) *receiverState {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &receiverState{place: placed{stream: stream, preferred: preferred},
		info: ReceiverInfo{Stream: stream, Name: name, LastErrorAt: Unknown}}
	t.receivers = append(t.receivers, r)
	return r
}

// startReceiverTracker places the receivers and readies what governs them, if there are any.
func (c *Context) startReceiverTracker(ctx context.Context, now int64) error {
	c.allocator = newAllocator(c, now)
	if err := c.startFileRates(); err != nil {
		return err
	}
	if len(c.receivers.receivers) == 0 {
		return nil
	}
	if err := c.receivers.control(); err != nil {
		return err
	}
	if err := c.engine.start(ctx); err != nil {
		return err
	}
	c.receivers.placeOnExecutors()
	return nil
}

// control makes the controllers.
//
// Errors: those of estimators of the program's.
func (t *receiverTracker) control() error {
	for _, r := range t.receivers {
		e, err := t.c.opts.Backpressure.estimator(r.place.stream, t.c.Interval())
		if err != nil {
			return fmt.Errorf("estimator of receiver stream %d: %w", r.place.stream, err)
		}
		if e != nil {
			r.control = &rateController{stream: r.place.stream, estimator: e, log: t.c.opts.Logger,
				set: func(perSecond int64) { t.limit(r, perSecond) }}
		}
	}
	return nil
}

// launched takes note of a receiver's supervisor.
func (t *receiverTracker) launched(r *receiverState, sup limited) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.sup = sup
	r.info.Rate = sup.Rate()
}

// placeOnExecutors gives each receiver that is on no live executor one, if executors have come or gone since the last
// call. The loop calls it before each batch, and receivers when they start.
func (t *receiverTracker) placeOnExecutors() {
	if len(t.receivers) == 0 { // none is added once batches are made
		return
	}
	executors := t.c.engine.executors()
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Equal(executors, t.executors) {
		return
	}
	first := len(t.executors) == 0
	t.executors = executors
	if first {
		all := make([]placed, len(t.receivers))
		for i, r := range t.receivers {
			all[i] = r.place
		}
		for i, candidates := range placeAll(all, executors) {
			t.receivers[i].place.candidates = candidates
		}
	}
	for _, r := range t.receivers {
		if t.live(r.place.executor) {
			continue
		}
		// Candidates that are left from before come first; a preferred host alone is none.
		to := settleOn(r.place.candidates, executors)
		if to == "" {
			var others []placed
			for _, o := range t.receivers {
				if o != r {
					others = append(others, o.place)
				}
			}
			r.place.candidates = placeAgain(r.place.preferred, others, executors)
			to = settleOn(r.place.candidates, executors)
		}
		r.place.executor = to
		r.place.state = inactive
		if to != "" {
			r.place.state = active
		}
		if r.info.Executor = to; r.sup != nil { // before that its start tells
			t.tell(r, func(*ReceiverInfo) {}, func(l *Listener) func(ReceiverInfo) { return l.ReceiverChanged })
		}
	}
}

func (t *receiverTracker) live(id scheduler.ExecutorID) bool {
	return slices.ContainsFunc(t.executors, func(e scheduler.ExecutorInfo) bool { return e.ID == id })
}

// preferred returns the executor that tasks reading a receiver's blocks prefer, empty where it makes no difference.
func (t *receiverTracker) preferred(r *receiverState) scheduler.ExecutorID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.executors) < 2 {
		return ""
	}
	return r.place.executor
}

// hosting reports whether a receiver is on an executor.
func (t *receiverTracker) hosting(id scheduler.ExecutorID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.receivers, func(r *receiverState) bool { return r.place.executor == id })
}

// batchEnded lets the rates follow a batch.
func (t *receiverTracker) batchEnded(info BatchInfo, held []heldUp) {
	for _, r := range t.receivers { // no receiver is added once batches are made
		if r.control != nil {
			r.control.batchEnded(info, held)
		}
	}
}

// started, failed and stopped are what a supervisor tells of its receiver. A start is a time to move as well.
func (t *receiverTracker) started(r *receiverState, attempt int) {
	t.placeOnExecutors()
	t.change(r, func(info *ReceiverInfo) { info.Active, info.Attempt = true, attempt },
		func(l *Listener) func(ReceiverInfo) { return l.ReceiverStarted })
}

func (t *receiverTracker) failed(r *receiverState, err error) {
	t.change(r, func(info *ReceiverInfo) { info.LastError, info.LastErrorAt = err, t.c.opts.Clock.Now() },
		func(l *Listener) func(ReceiverInfo) { return l.ReceiverError })
}

func (t *receiverTracker) stopped(r *receiverState, err error) {
	t.change(r, func(info *ReceiverInfo) {
		info.Active = false
		if err != nil {
			info.LastError, info.LastErrorAt = err, t.c.opts.Clock.Now()
		}
	}, func(l *Listener) func(ReceiverInfo) { return l.ReceiverStopped })
}

// limit sets the rate of a receiver. It comes before the receiver is launched where an old batch ends then, and is
// ignored.
func (t *receiverTracker) limit(r *receiverState, perSecond int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.sup == nil {
		return
	}
	r.sup.SetRate(perSecond)
	if r.info.Rate != r.sup.Rate() {
		t.tell(r, func(*ReceiverInfo) {}, func(l *Listener) func(ReceiverInfo) { return l.ReceiverChanged })
	}
}

// change changes what is known of a receiver and posts it to one function of the listeners.
func (t *receiverTracker) change(r *receiverState, change func(*ReceiverInfo), which func(*Listener) func(ReceiverInfo)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(r, change, which)
}

// tell is change with mu held, which puts the events in the order of the facts.
func (t *receiverTracker) tell(r *receiverState, change func(*ReceiverInfo), which func(*Listener) func(ReceiverInfo)) {
	change(&r.info)
	if r.sup != nil {
		r.info.Rate = r.sup.Rate()
	}
	info := r.info
	t.c.bus.post(func(l *Listener) {
		if f := which(l); f != nil {
			f(info)
		}
	})
}

// infos returns what is known of the receivers, in the order of their streams.
func (t *receiverTracker) infos() []ReceiverInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	infos := make([]ReceiverInfo, len(t.receivers))
	for i, r := range t.receivers {
		infos[i] = r.info
	}
	return infos
}

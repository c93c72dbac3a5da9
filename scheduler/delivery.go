package scheduler

import (
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Warnings about a listener that loses events come at least this far apart.
const dropWarning = time.Minute

// A delivery brings events to one listener. mu guards what follows it.
type delivery struct {
	listener Listener
	limit    int
	log      *slog.Logger
	added    *Listener // by AddListener; guarded by Scheduler.mu, as is removed
	removed  bool

	mu       sync.Mutex
	queue    []func(*Listener)
	dropped  int // since the listener was told
	unwarned int // dropped since the last warning
	warned   time.Time
	calls    int // that have returned
	closed   bool
	left     bool          // nobody waits for the listener any more
	wake     chan struct{} // holds one token while the queue may have something
	over     chan struct{} // closed when run returns
}

func newDelivery(l Listener, limit int, log *slog.Logger) *delivery {
	return &delivery{listener: l, limit: limit, log: log, wake: make(chan struct{}, 1), over: make(chan struct{})}
}

// put queues an event or, if the queue is full, counts it as dropped.
func (d *delivery) put(event func(*Listener)) {
	d.mu.Lock()
	if len(d.queue) < d.limit {
		d.queue = append(d.queue, event)
	} else {
		d.drop()
	}
	d.mu.Unlock()
	d.ring()
}

// drop counts an event and once in a while warns. mu is held.
func (d *delivery) drop() {
	d.dropped++
	d.unwarned++
	if now := time.Now(); d.warned.IsZero() || now.Sub(d.warned) >= dropWarning {
		d.log.Warn("listener is too slow", "dropped", d.unwarned)
		d.warned, d.unwarned = now, 0
	}
}

// close makes run return once the queue is empty.
func (d *delivery) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.ring()
}

// wait returns true when run has returned, and false when the listener has not come back from a call for so
// long: what is queued for it is dropped then.
func (d *delivery) wait(patience time.Duration) bool {
	for {
		d.mu.Lock()
		calls := d.calls
		d.mu.Unlock()
		timer := time.NewTimer(patience)
		select {
		case <-d.over:
			timer.Stop()
			return true
		case <-timer.C:
		}
		d.mu.Lock()
		d.left = d.calls == calls
		left := d.left
		d.mu.Unlock()
		if left {
			return false
		}
	}
}

func (d *delivery) ring() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// run delivers until close.
func (d *delivery) run() {
	defer close(d.over)
	for range d.wake {
		for {
			d.mu.Lock()
			batch, dropped, closed := d.queue, d.dropped, d.closed
			d.queue, d.dropped = nil, 0
			d.mu.Unlock()
			d.callAll(batch)
			if dropped > 0 {
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
				if d.abandoned() {
					continue
				}
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

// abandoned reports whether nobody waits for the listener any more. Each call before counts as returned.
func (d *delivery) abandoned() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	return d.left
}

func (d *delivery) call(event func(*Listener)) {
	defer func() {
		if v := recover(); v != nil {
			d.log.Error("listener panicked", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	event(&d.listener)
}

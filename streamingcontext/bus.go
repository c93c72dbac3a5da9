package streamingcontext

import (
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// A bus brings events to the listeners of a context, in order, on one goroutine.
type bus struct {
	listeners []Listener
	limit     int
	log       *slog.Logger

	mu      sync.Mutex // guards the fields below
	queue   []func(*Listener)
	dropped int
	closed  bool
	waiting []chan struct{} // closed once what was queued before has been told
	wake    chan struct{}   // holds one token while there may be something to do
}

func newBus(listeners []Listener, limit int, log *slog.Logger) *bus {
	return &bus{listeners: listeners, limit: limit, log: log, wake: make(chan struct{}, 1)}
}

// idle reports whether nobody listens, so that events need not be made.
func (b *bus) idle() bool { return len(b.listeners) == 0 }

// post queues an event or, if the queue is full, counts it as dropped. It does not block.
func (b *bus) post(event func(*Listener)) {
	b.mu.Lock()
	switch {
	case b.closed:
	case len(b.queue) < b.limit:
		b.queue = append(b.queue, event)
	default:
		b.dropped++
	}
	b.mu.Unlock()
	b.ring()
}

// told returns a channel that is closed once everything that is queued now has been told.
func (b *bus) told() <-chan struct{} {
	done := make(chan struct{})
	b.mu.Lock()
	b.waiting = append(b.waiting, done)
	b.mu.Unlock()
	b.ring()
	return done
}

// close makes run return once the queue is empty.
func (b *bus) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.ring()
}

func (b *bus) ring() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// run delivers until close.
func (b *bus) run() {
	for range b.wake {
		for {
			b.mu.Lock()
			events, dropped, closed, waiting := b.queue, b.dropped, b.closed, b.waiting
			b.queue, b.dropped, b.waiting = nil, 0, nil
			b.mu.Unlock()
			b.deliverAll(events)
			if dropped > 0 {
				b.log.Warn("listeners are too slow", "dropped", dropped)
				b.deliverAll([]func(*Listener){func(l *Listener) {
					if l.Dropped != nil {
						l.Dropped(dropped)
					}
				}})
			}
			for _, done := range waiting {
				close(done)
			}
			if len(events) == 0 && closed {
				return
			}
			if len(events) == 0 {
				break
			}
		}
	}
}

// deliverAll gives each event to each listener, also behind a listener that ended its goroutine.
func (b *bus) deliverAll(events []func(*Listener)) {
	calls := len(events) * len(b.listeners)
	for next := 0; next < calls; {
		err := apart(func() error {
			for next < calls {
				i := next
				next++
				b.call(events[i/len(b.listeners)], &b.listeners[i%len(b.listeners)])
			}
			return nil
		})
		if err != nil {
			b.log.Error("listener ended its goroutine", "err", err)
		}
	}
}

// call is the only place that listeners are called from; calledFrom looks for it.
func (b *bus) call(event func(*Listener), l *Listener) {
	defer func() {
		if v := recover(); v != nil {
			b.log.Error("listener panicked", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	event(l)
}

// What calledFrom looks for.
const (
	inListener = "streamingcontext.(*bus).call"
	inJob      = "streamingcontext.runJob"
	inBatch    = "dstream.userCode"
)

// calledFrom returns which of the named functions the caller was called by, directly or not; empty if
// by none.
func calledFrom(names ...string) string {
	pcs := make([]uintptr, 512)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		for _, name := range names {
			if strings.HasSuffix(f.Function, name) {
				return name
			}
		}
		if !more {
			return ""
		}
	}
}

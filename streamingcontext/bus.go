package streamingcontext

import (
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A bus brings events to the listeners of a context, in order, on one goroutine.
type bus struct {
	listeners atomic.Pointer[[]listening] // replaced as a whole, under mu
	limit     int
	log       *slog.Logger

	mu      sync.Mutex // guards the fields below
	queue   []posted
	dropped int
	closed  bool
	quiet   bool            // nothing is delivered any more: run was left behind
	waiting []chan struct{} // closed once what was queued before has been told
	wake    chan struct{}   // holds one token while there may be something to do
}

func newBus(listeners []Listener, limit int, log *slog.Logger) *bus {
	b := &bus{limit: limit, log: log, wake: make(chan struct{}, 1)}
	all := make([]listening, len(listeners))
	for i, l := range listeners {
		all[i].Listener = l
	}
	b.listeners.Store(&all)
	return b
}

// A posted event is for those who listened then.
type posted struct {
	event func(*Listener)
	to    []listening
}

// listening is a listener and, where it was added later, what it is known by.
type listening struct {
	Listener
	added *Listener
}

// idle reports whether nobody listens, so that events need not be made.
func (b *bus) idle() bool { return len(*b.listeners.Load()) == 0 }

func (b *bus) add(l *Listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := *b.listeners.Load()
	if l == nil || slices.ContainsFunc(all, func(have listening) bool { return have.added == l }) {
		return
	}
	all = append(slices.Clone(all), listening{*l, l})
	b.listeners.Store(&all)
}

func (b *bus) remove(l *Listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(*b.listeners.Load()), func(have listening) bool { return l != nil && have.added == l })
	b.listeners.Store(&all)
}

// post queues an event or, if the queue is full, counts it as dropped. It does not block.
func (b *bus) post(event func(*Listener)) {
	b.mu.Lock()
	switch {
	case b.closed:
	case len(b.queue) < b.limit:
		b.queue = append(b.queue, posted{event, *b.listeners.Load()})
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

// hush makes run deliver nothing further. It is called where a listener that does not return holds run up.
func (b *bus) hush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.quiet, b.queue = true, nil
}

func (b *bus) hushed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.quiet
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
				b.deliverAll([]posted{{func(l *Listener) {
					if l.Dropped != nil {
						l.Dropped(dropped)
					}
				}, *b.listeners.Load()}})
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
func (b *bus) deliverAll(events []posted) {
	var event, listener int // the next call
	for event < len(events) {
		err := apart(func() error {
			for ; event < len(events); event, listener = event+1, 0 {
				e := events[event]
				for listener < len(e.to) {
					l := &e.to[listener].Listener
					listener++
					if b.hushed() {
						continue
					}
					b.call(e.event, l)
				}
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
	inJob      = "streamingcontext.(*running).runJob"
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

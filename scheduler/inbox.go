package scheduler

import (
	"sync"
	"time"
)

// An event is one fact the loop is told.
type event interface{ apply(l *loop) }

// An inbox holds the events the loop has not handled yet. Posting never blocks, so that a backend
// may report from anywhere; what can be waiting is bounded by the callers blocked in Run and the
// attempts that are running. mu guards events, timers and closed.
type inbox struct {
	mu     sync.Mutex
	events []event
	spare  []event // the slice handled last, to be filled again
	timers map[*time.Timer]bool
	closed bool
	wake   chan struct{} // holds one token while there may be events
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// post queues ev and reports whether it will be handled.
func (b *inbox) post(ev event) bool {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return false
	}
	b.events = append(b.events, ev)
	first := len(b.events) == 1
	b.mu.Unlock()
	if first {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// after posts ev once d has passed: behind the events already queued if d is zero.
func (b *inbox) after(d time.Duration, ev event) {
	if d <= 0 {
		b.post(ev)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	if b.timers == nil {
		b.timers = map[*time.Timer]bool{}
	}
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		b.mu.Lock()
		delete(b.timers, t)
		b.mu.Unlock()
		b.post(ev)
	})
	b.timers[t] = true
}

// take returns the events that are waiting.
func (b *inbox) take() []event {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.events
	b.events, b.spare = b.spare, nil
	return events
}

// giveBack lets the next take's events use the memory of events.
func (b *inbox) giveBack(events []event) {
	clear(events)
	b.mu.Lock()
	b.spare = events[:0]
	b.mu.Unlock()
}

// close refuses further events and returns those that were not handled.
func (b *inbox) close() []event {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for t := range b.timers {
		t.Stop()
	}
	b.timers = nil
	events := b.events
	b.events = nil
	return events
}

// run is the loop's goroutine: it handles events until the loop is closed. Whoever still waits for a
// job then is told.
func (b *inbox) run(l *loop) {
	for range b.wake {
		events := b.take()
		for _, ev := range events {
			l.handle(ev)
		}
		b.giveBack(events)
		if l.closed {
			break
		}
	}
	for _, ev := range b.close() {
		if sub, ok := ev.(jobSubmitted); ok {
			sub.job.done <- ErrClosed
		}
	}
}

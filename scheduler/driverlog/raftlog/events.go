package raftlog

import "sync"

// maxEvents bounds the events that a slow listener is behind.
const maxEvents = 1024

// events passes what happens to a listener, in order and beside everything else.
type events struct {
	to   *Listener
	mu   sync.Mutex // guards the two below
	list []func(*Listener)
	lost int           // dropped since the last was passed on
	more chan struct{} // of one: there are some
}

func newEvents(to *Listener) *events { return &events{to: to, more: make(chan struct{}, 1)} }

// add adds an event. It does not block: where too many wait it is dropped, and counted.
func (e *events) add(event func(*Listener)) {
	e.mu.Lock()
	if len(e.list) < maxEvents {
		e.list = append(e.list, event)
	} else {
		e.lost++
	}
	e.mu.Unlock()
	select {
	case e.more <- struct{}{}:
	default:
	}
}

// run passes events on until quit is closed, and then those that are left.
func (e *events) run(quit <-chan struct{}) {
	for {
		select {
		case <-e.more:
			e.pass()
		case <-quit:
			e.pass()
			return
		}
	}
}

func (e *events) pass() {
	e.mu.Lock()
	list, lost := e.list, e.lost
	e.list, e.lost = nil, 0
	e.mu.Unlock()
	for _, event := range list {
		event(e.to)
	}
	if lost > 0 && e.to.Missed != nil {
		e.to.Missed(lost)
	}
}

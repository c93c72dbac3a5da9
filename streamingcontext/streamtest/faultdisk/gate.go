package faultdisk

import (
	"context"
	"sync"
	"syscall"
	"time"
)

// Counts say what became of the calls of a disk. Reads are not counted.
type Counts struct {
	Writes, Moves, Flushes int64 // made
	Held                   int64 // hanging now
	Hung                   int64 // have hung, or do
	Delayed                int64
	Refused                int64 // answered with an error, and not made
}

// A gate is what every call of a disk passes, or not.
type gate struct {
	mu      sync.Mutex
	fault   Fault
	counts  Counts
	closed  bool
	changed chan struct{} // closed and replaced when the fault changes, or a call begins to hang
}

func newGate() *gate { return &gate{changed: make(chan struct{})} }

// pass lets a call through, when it may, and returns 0, or returns what it is answered with.
func (g *gate) pass(call Calls, path string) syscall.Errno {
	g.mu.Lock()
	defer g.mu.Unlock()
	hung := false
	for g.fault.Hang && g.fault.meets(call, path) && !g.closed {
		if g.counts.Held++; !hung {
			hung = true
			g.counts.Hung++
			g.tell()
		}
		g.wait(nil)
		g.counts.Held--
	}
	if d := g.fault.Delay; d > 0 && g.fault.meets(call, path) && !g.closed {
		g.counts.Delayed++
		timer := time.NewTimer(d)
		defer timer.Stop()
		for over := false; !over && g.fault.Delay > 0 && !g.closed; {
			over = g.wait(timer.C)
		}
	}
	switch {
	case g.closed:
		g.counts.Refused++
		return syscall.EIO
	case g.fault.Err != 0 && g.fault.meets(call, path):
		g.counts.Refused++
		return g.fault.Err
	case call == Writes:
		g.counts.Writes++
	case call == Moves:
		g.counts.Moves++
	default:
		g.counts.Flushes++
	}
	return 0
}

// wait waits for a change, or a time, with g.mu held before and after. It tells whether it was the time.
func (g *gate) wait(until <-chan time.Time) (over bool) {
	changed := g.changed
	g.mu.Unlock()
	defer g.mu.Lock()
	select {
	case <-changed:
	case <-until:
		over = true
	}
	return over
}

// tell wakes all who wait, with g.mu held.
func (g *gate) tell() {
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *gate) set(f Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault = f
	g.tell()
}

// close has all calls answered with an error from now on, those that hang too.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.tell()
}

func (g *gate) now() (Fault, Counts) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fault, g.counts
}

// awaitHeld waits until a call hangs.
func (g *gate) awaitHeld(ctx context.Context) error {
	for {
		g.mu.Lock()
		held, changed := g.counts.Held, g.changed
		g.mu.Unlock()
		if held > 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

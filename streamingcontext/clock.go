package streamingcontext

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/leat-io/leat/receivers"
)

// A Clock tells the time that batches are cut by. It is the clock of receivers as well, so that one
// clock drives a program: SystemClock, or a ManualClock in tests.
type Clock = receivers.Clock

// SystemClock is the clock of package time.
type SystemClock = receivers.SystemClock

// A ManualClock stands still at 0 until it is moved. The zero value is ready; its methods may be
// called from any goroutine.
type ManualClock struct {
	mu      sync.Mutex // guards the fields below
	now     int64
	waiters []*waiter // by the time they wait for, then by the time they came
}

// waiter is one call of WaitUntil.
type waiter struct {
	until int64
	woken chan struct{}
}

// Now returns the clock's time in milliseconds.
func (c *ManualClock) Now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock to t and wakes those whose time has come, the earliest first.
func (c *ManualClock) Set(t int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(t)
}

// Advance moves the clock forward by d milliseconds.
func (c *ManualClock) Advance(d int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(c.now + d)
}

func (c *ManualClock) set(t int64) {
	c.now = t
	due := 0
	for due < len(c.waiters) && c.waiters[due].until <= t {
		close(c.waiters[due].woken)
		due++
	}
	c.waiters = slices.Delete(c.waiters, 0, due)
}

// WaitUntil returns nil once the clock is at t or later, and ctx's error if ctx ends before that.
func (c *ManualClock) WaitUntil(ctx context.Context, t int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	if c.now >= t {
		c.mu.Unlock()
		return nil
	}
	w := &waiter{until: t, woken: make(chan struct{})}
	at, _ := slices.BinarySearchFunc(c.waiters, t, func(w *waiter, t int64) int {
		return cmp.Or(cmp.Compare(w.until, t), -1) // behind all that wait for the same time
	})
	c.waiters = slices.Insert(c.waiters, at, w)
	c.mu.Unlock()
	select {
	case <-w.woken:
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		if i := slices.Index(c.waiters, w); i >= 0 {
			c.waiters = slices.Delete(c.waiters, i, i+1)
		}
		return ctx.Err()
	}
}

package receiverstest

import (
	"context"
	"sync"
)

// Clock is a clock that stands at 0 until it is moved. The zero value is ready.
type Clock struct {
	mu    sync.Mutex // guards the fields below
	now   int64
	moved chan struct{} // closed by the next move; nil while nobody waits
}

// Now returns the time in milliseconds.
func (c *Clock) Now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock to t milliseconds.
func (c *Clock) Set(t int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// Advance moves the clock forward by d milliseconds.
func (c *Clock) Advance(d int64) { c.Set(c.Now() + d) }

// WaitUntil returns nil once the clock is at t or later, and ctx's error if ctx ends before that.
func (c *Clock) WaitUntil(ctx context.Context, t int64) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.mu.Lock()
		if c.now >= t {
			c.mu.Unlock()
			return nil
		}
		if c.moved == nil {
			c.moved = make(chan struct{})
		}
		moved := c.moved
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
		}
	}
}

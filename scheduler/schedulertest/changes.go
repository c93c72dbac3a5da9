package schedulertest

import (
	"context"
	"sync"
)

// A changes tells those who wait that something has changed. The owner's mutex guards it.
type changes struct{ next chan struct{} } // closed and replaced at every change; nil if nobody waits

// tell wakes those who wait. The mutex is held.
func (c *changes) tell() {
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// wait returns when ok says so, or with ctx's error. ok is asked now and after every change, without the mutex.
func (c *changes) wait(ctx context.Context, mu *sync.Mutex, ok func() bool) error {
	for {
		mu.Lock()
		if c.next == nil {
			c.next = make(chan struct{})
		}
		next := c.next
		mu.Unlock()
		if ok() {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

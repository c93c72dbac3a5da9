package receivers

import (
	"context"
	"time"
)

// Clock tells the time that block intervals, rates and restart delays are measured in. A program uses [SystemClock]; a
// test passes a clock that stands still until it is moved.
type Clock interface {
	// Now returns the time in milliseconds since the epoch. It may be called from any goroutine.
	Now() int64

	// WaitUntil returns nil once Now is t or later, and ctx's error if ctx ends before that. It may be called from any
	// number of goroutines at the same time.
	WaitUntil(ctx context.Context, t int64) error
}

// SystemClock is the clock of package time.
type SystemClock struct{}

// Now returns the milliseconds since the epoch.
func (SystemClock) Now() int64 { return time.Now().UnixMilli() }

// WaitUntil returns nil at t, or ctx's error if ctx ends before that.
func (c SystemClock) WaitUntil(ctx context.Context, t int64) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		wait := time.Until(time.UnixMilli(t))
		if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
			// The wall clock may have been set back while the timer ran, so look again.
		}
	}
}

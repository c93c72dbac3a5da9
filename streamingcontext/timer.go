package streamingcontext

import (
	"context"
	"sync/atomic"
)

// A timer calls tick with start, start+period, ... once the clock has reached each of them. A late
// wake-up or a clock that jumps gives one call for each period passed, in order: the time handed over
// is the one that was due, not the one it is.
type timer struct {
	clock    Clock
	period   int64 // milliseconds
	tick     func(ctx context.Context, t int64) bool
	stopping atomic.Bool
}

// run calls tick from next on, until ctx ends, tick returns false, or finish was called: then the wait
// in progress and one more period are still awaited and called. It returns the last time called, next
// minus a period if there was none.
func (t *timer) run(ctx context.Context, next int64) (last int64) {
	last = next - t.period
	fire := func() bool {
		if t.clock.WaitUntil(ctx, next) != nil || ctx.Err() != nil || !t.tick(ctx, next) {
			return false
		}
		last, next = next, next+t.period
		return true
	}
	for !t.stopping.Load() {
		if !fire() {
			return last
		}
	}
	fire() // the final period
	return last
}

// finish makes run return in an orderly way. It does not wait.
func (t *timer) finish() { t.stopping.Store(true) }

// firstTick is the first batch time of a context that starts at now: the first multiple of the
// interval that is later.
func firstTick(now, interval int64) int64 { return (now/interval + 1) * interval }

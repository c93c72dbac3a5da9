package receivers

import (
	"context"
	"sync"
	"sync/atomic"
)

const (
	// tokensPerRecord makes the arithmetic exact: at r records per second, r tokens arrive each millisecond.
	tokensPerRecord = 1000
	// burstMillis is how long unused tokens are kept, so that a short pause does not lower the average.
	burstMillis = 100
	// rateCeiling keeps products of a rate and a time far from overflow. Nothing runs a record per picosecond.
	rateCeiling = int64(1e12)
)

// limiter lets a bounded number of records pass per second. A rate of zero lets everything pass.
type limiter struct {
	clock Clock
	max   int64 // the rate that no update exceeds; 0 means none
	rate  atomic.Int64

	mu     sync.Mutex // guards the fields below
	begun  bool
	tokens int64
	last   int64 // the time up to which tokens have been added
}

func newLimiter(clock Clock, initial, ceiling int64) *limiter {
	l := &limiter{clock: clock, max: min(max(ceiling, 0), rateCeiling)}
	l.rate.Store(l.max)
	l.update(initial)
	return l
}

// update sets the rate to at most the maximum. A rate that is not positive changes nothing: an estimator that has
// lost its footing must not stop the stream.
func (l *limiter) update(rate int64) {
	if rate <= 0 {
		return
	}
	rate = min(rate, rateCeiling)
	if l.max > 0 {
		rate = min(rate, l.max)
	}
	l.rate.Store(rate)
}

// limited reports whether there is a rate to keep to.
func (l *limiter) limited() bool { return l.rate.Load() > 0 }

// wait returns when n more records may pass. It calls pausing before each pause, whose error ends the wait.
func (l *limiter) wait(ctx context.Context, n int, pausing func() error) error {
	for n > 0 && l.limited() {
		taken, at := l.take(n)
		if n -= taken; n == 0 {
			return nil
		}
		if err := pausing(); err != nil {
			return err
		}
		// At most one second, since a rate is at least one record per second; so a raised rate is soon felt.
		if err := l.clock.WaitUntil(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// take takes the tokens of up to n records. For those that are left it returns the time at which to try again.
func (l *limiter) take(n int) (taken int, at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rate, now := l.rate.Load(), l.clock.Now()
	if !l.begun {
		l.begun, l.last, l.tokens = true, now, tokensPerRecord
	}
	if elapsed := min(now-l.last, 1000); elapsed > 0 {
		full := max(tokensPerRecord, rate*burstMillis)
		l.tokens = min(l.tokens+elapsed*rate, full)
		l.last = now
	}
	taken = int(min(int64(n), l.tokens/tokensPerRecord))
	l.tokens -= int64(taken) * tokensPerRecord
	if taken == n || rate == 0 {
		return taken, now
	}
	return taken, now + (tokensPerRecord-l.tokens+rate-1)/rate
}

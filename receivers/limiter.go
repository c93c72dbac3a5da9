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

// wait returns when one more record may pass.
func (l *limiter) wait(ctx context.Context) error {
	for l.rate.Load() > 0 {
		at, ok := l.take()
		if ok {
			return nil
		}
		// At most one second, since a rate is at least one record per second; so a raised rate is soon felt.
		if err := l.clock.WaitUntil(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// take takes the tokens of one record, or returns the time at which to try again.
func (l *limiter) take() (at int64, ok bool) {
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
	if l.tokens >= tokensPerRecord {
		l.tokens -= tokensPerRecord
		return 0, true
	}
	return now + (tokensPerRecord-l.tokens+rate-1)/rate, false
}

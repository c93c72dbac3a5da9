package receivers

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// stepClock is a clock whose waits move it, as if the time had passed.
type stepClock struct{ now int64 }

func (c *stepClock) Now() int64 { return c.now }

func (c *stepClock) WaitUntil(ctx context.Context, t int64) error {
	c.now = max(c.now, t)
	return ctx.Err()
}

func always() error { return nil }

// Case R5, and the first rate.
func TestLimiter_R5_rate_after_an_update(t *testing.T) {
	tests := []struct{ max, initial, update, want int64 }{
		{0, 0, 105, 105},
		{110, 0, 105, 105},
		{100, 0, 105, 100},
		{100, 0, 0, 100},
		{100, 0, -5, 100},
		{0, 50, 0, 50},
		{0, 0, -5, 0},
		{100, 20, 0, 20},
		{100, 200, 0, 100},
		{-1, -1, 0, 0},
		{-1, 0, 7, 7},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("max=%d/initial=%d/update=%d", test.max, test.initial, test.update), func(t *testing.T) {
			l := newLimiter(&stepClock{}, test.initial, test.max)
			l.update(test.update)
			if got := l.rate.Load(); got != test.want {
				t.Errorf("rate = %d, want %d", got, test.want)
			}
		})
	}
}

func TestLimiter_lets_the_rate_pass(t *testing.T) {
	for _, rate := range []int64{1, 3, 105, 1000, 2999, 100_000} {
		t.Run(fmt.Sprintf("rate=%d", rate), func(t *testing.T) {
			clock := &stepClock{now: 5000}
			l := newLimiter(clock, 0, rate)
			passed := int64(0)
			for {
				if err := l.wait(t.Context(), 1, always); err != nil {
					t.Fatal(err)
				}
				if clock.now > 15_000 {
					break
				}
				passed++
			}
			// Ten seconds: the one record at the start, then the rate, which need not fall on a whole millisecond.
			if want := 10*rate + 1; passed > want || passed < want-1 {
				t.Errorf("%d records in 10 s, want %d", passed, want)
			}
		})
	}
}

func TestLimiter_keeps_only_a_short_burst(t *testing.T) {
	clock := &stepClock{now: 5000}
	l := newLimiter(clock, 0, 1000)
	_ = l.wait(t.Context(), 1, always)
	clock.now += 3600_000
	passed := 0
	for idle := clock.now; ; passed++ {
		_ = l.wait(t.Context(), 1, always)
		if clock.now > idle {
			break
		}
	}
	if passed != 100 {
		t.Errorf("%d records at once after an hour, want those of 100 ms", passed)
	}
}

func TestLimiter_takes_many_at_once(t *testing.T) {
	clock := &stepClock{now: 5000}
	l := newLimiter(clock, 0, 1000)
	if err := l.wait(t.Context(), 2500, always); err != nil {
		t.Fatal(err)
	}
	// One was there at the start, the rest came one a millisecond.
	if passed := clock.now - 5000; passed != 2499 {
		t.Errorf("2,500 records took %d ms", passed)
	}
	stopped := errors.New("stopped")
	pauses := 0
	err := l.wait(t.Context(), 10, func() error { pauses++; return stopped })
	if err != stopped || pauses != 1 {
		t.Errorf("wait = %v after %d pauses", err, pauses)
	}
}

func TestLimiter_bears_a_clock_that_is_set_back(t *testing.T) {
	clock := &stepClock{now: 5000}
	l := newLimiter(clock, 0, 10)
	_ = l.wait(t.Context(), 1, always)
	clock.now = 1000
	if taken, at := l.take(1); taken != 0 || at != 1100 {
		t.Errorf("take = %d, %d; want to wait until 1100", taken, at)
	}
}

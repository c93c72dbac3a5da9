package dstream

import (
	"fmt"
	"time"
)

// Time is a batch time in milliseconds since the epoch of Unix. Batch t covers what arrived in
// [t-interval, t).
type Time int64

// String returns the time as in "2000 ms".
func (t Time) String() string { return fmt.Sprintf("%d ms", int64(t)) }

// millis is a span of time in whole milliseconds, the unit of all arithmetic on batch times.
type millis = int64

// toMillis returns a duration in milliseconds, or an error if it is not a positive whole number
// of them.
func toMillis(d time.Duration) (millis, error) {
	if d <= 0 || d%time.Millisecond != 0 {
		return 0, fmt.Errorf("%w: %v is not a positive whole number of milliseconds", ErrBadDuration, d)
	}
	return int64(d / time.Millisecond), nil
}

// Floor returns the last time at or before t that is a multiple of d after zero. Division truncates
// toward zero, as in all of this arithmetic.
func (t Time) Floor(d time.Duration, zero Time) Time {
	m := int64(d / time.Millisecond)
	return Time((int64(t)-int64(zero))/m*m) + zero
}

// Next returns the first time after t that is a multiple of d after zero: where the timer of a context
// that starts at t begins, with 0 for a new one and its zero for one that goes on.
func (t Time) Next(d time.Duration, zero Time) Time {
	return t.Floor(d, zero) + Time(d/time.Millisecond)
}

// Until returns t, t+step, ... below end.
func (t Time) Until(end Time, step time.Duration) []Time {
	return t.To(end-1, step)
}

// To returns t, t+step, ... up to and including end.
func (t Time) To(end Time, step time.Duration) []Time {
	var times []Time
	for m := Time(step / time.Millisecond); t <= end; t += m {
		times = append(times, t)
	}
	return times
}

// MultipleOf reports whether d is a multiple of unit; 0 is a multiple of everything.
func MultipleOf(d, unit time.Duration) bool { return d%unit == 0 }

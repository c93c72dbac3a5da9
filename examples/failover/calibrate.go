package main

import (
	"context"
	"time"
)

// calibrate returns half the lines a second that are counted while text comes as fast as it is taken. What makes the text and the
// nodes that stand by have their share of the processors, as they will have.
//
// A batch takes what lies ready. More and more does, until no more of it is counted.
func (c *group) calibrate(ctx context.Context) (int, error) {
	const (
		least, most = 16_000, 64_000 // lines that lie ready; of more the disk is soon full
		enough      = 1.25           // so much more must be counted with twice as many
	)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	best := 0.0
	for ready := least; ready <= most; ready *= 2 {
		rate, err := c.rateWith(ctx, ready, 2*time.Second)
		if err != nil {
			return 0, err
		}
		last := best
		best = max(best, rate)
		if rate < enough*last {
			break
		}
	}
	return max(int(best/2), 1), c.caughtUp(ctx, c.text.words)
}

// rateWith returns the lines a second that are counted while so many lie ready.
func (c *group) rateWith(ctx context.Context, ready int, length time.Duration) (float64, error) {
	const files = 8
	step := func() error {
		if err := c.text.write(ready / files); err != nil {
			return err
		}
		return c.caughtUp(ctx, c.text.words-int64(ready)*lineWords)
	}
	for range files + 1 { // until they lie there
		if err := step(); err != nil {
			return 0, err
		}
	}
	from, begin := c.counted, time.Now()
	for time.Since(begin) < length {
		if err := step(); err != nil {
			return 0, err
		}
	}
	return float64(c.counted-from) / lineWords / time.Since(begin).Seconds(), nil
}

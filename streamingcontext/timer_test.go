package streamingcontext

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// ticks collects what a timer called.
type ticks struct {
	mu  sync.Mutex
	all []int64
}

func (k *ticks) add(_ context.Context, t int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, t)
	return true
}

// since returns the ticks after the first n.
func (k *ticks) since(n int) []int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.all[n:])
}

func TestTimer_T7_T8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, got := &ManualClock{}, &ticks{}
		clock.Set(400)
		tm := &timer{clock: clock, period: 200, tick: got.add}
		last := make(chan int64, 1)
		go func() { last <- tm.run(t.Context(), 400) }()
		check := func(what string, n int, want ...int64) {
			t.Helper()
			synctest.Wait()
			if got := got.since(n); !slices.Equal(got, want) {
				t.Errorf("%s: ticks %v, want %v", what, got, want)
			}
		}
		check("T7 at the start", 0, 400)
		clock.Set(500)
		check("T7 between two ticks", 1)
		clock.Set(1000)
		check("T7 after a jump", 1, 600, 800, 1000)

		tm.finish()
		clock.Set(1300)
		check("T8 the wait in progress", 4, 1200)
		select {
		case l := <-last:
			t.Fatalf("T8: returned %d before the final period", l)
		default:
		}
		clock.Set(1500)
		if l := <-last; l != 1400 {
			t.Errorf("T8: last tick %d, want 1400", l)
		}
		check("T8 the final period", 5, 1400)
	})
}

func TestTimerEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		got := &ticks{}
		tm := &timer{clock: &ManualClock{}, period: 200, tick: got.add}
		last := make(chan int64, 1)
		go func() { last <- tm.run(ctx, 200) }()
		synctest.Wait()
		cancel()
		if l := <-last; l != 0 {
			t.Errorf("last tick %d, want the one before the first", l)
		}
	})
}

func TestFirstBatch_T4(t *testing.T) {
	for _, c := range []struct{ now, interval, first int64 }{
		{0, 1000, 1000}, {999, 1000, 1000}, {1000, 1000, 2000}, {12345, 500, 12500},
	} {
		if got := firstTick(c.now, c.interval); got != c.first {
			t.Errorf("first batch at clock %d, interval %d: %d, want %d", c.now, c.interval, got, c.first)
		}
	}
}

func TestManualClockWakesTheEarliestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &ManualClock{}
		var mu sync.Mutex
		var woken []int64
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, until := range []int64{30, 10, 20, 40} {
			all.Go(func() {
				if clock.WaitUntil(ctx, until) != nil {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				woken = append(woken, until)
			})
			synctest.Wait()
		}
		for _, move := range []int64{9, 1, 10, 15} { // to 9, 10, 20, 35
			clock.Advance(move)
			synctest.Wait()
		}
		if want := []int64{10, 20, 30}; !slices.Equal(woken, want) {
			t.Errorf("woken %v, want %v", woken, want)
		}
		cancel()
		all.Wait()
		if len(clock.waiters) != 0 {
			t.Errorf("%d waiters left behind", len(clock.waiters))
		}
		if clock.WaitUntil(t.Context(), 35) != nil || clock.Now() != 35 {
			t.Errorf("a time that has come is waited for; clock at %d", clock.Now())
		}
	})
}

package memlog

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A GroupCall is one proposal of a node.
type GroupCall struct {
	Node     string
	N        int // which proposal of the group it is, from 1
	Commands []driverlog.Command
}

// A GroupOutcome is what becomes of a proposal.
type GroupOutcome int

// The outcomes.
const (
	Answered GroupOutcome = iota // it takes effect, and the proposer learns of it
	Lost                         // it takes effect, and the proposer gets driverlog.ErrUnknown
	Dropped                      // it never takes effect, and the proposer gets driverlog.ErrUnknown
	Late                         // as Dropped, but it takes effect all the same, before the next command of any node
)

// String returns the outcome in words.
func (o GroupOutcome) String() string {
	switch o {
	case Answered:
		return "answered"
	case Lost:
		return "lost"
	case Dropped:
		return "dropped"
	case Late:
		return "late"
	}
	return fmt.Sprintf("outcome %d", int(o))
}

// A GroupFault is what happens to a proposal. The zero value is nothing.
type GroupFault struct {
	Outcome GroupOutcome
	// After is called when the proposal has had its effect, before it is answered; without locks.
	After func()
	// Delay is how long the answer takes, in time of package time; Hold lets it wait until the channel is closed.
	Delay time.Duration
	Hold  <-chan struct{}
}

// RandomPlan returns a Plan of faults that r chooses: of each hundred proposals so many have an outcome other than Answered, and as
// many have answers that take up to delay. It may be called from any goroutine; r is its own from now on.
func RandomPlan(r *rand.Rand, percent int, delay time.Duration) func(GroupCall) GroupFault {
	var mu sync.Mutex
	return func(GroupCall) GroupFault {
		mu.Lock()
		defer mu.Unlock()
		var f GroupFault
		if r.IntN(100) < percent {
			f.Outcome = Lost + GroupOutcome(r.IntN(3))
		}
		if r.IntN(100) < percent && delay > 0 {
			f.Delay = time.Duration(r.Int64N(int64(delay)))
		}
		return f
	}
}

// wait holds an answer up.
func (f GroupFault) wait(ctx context.Context) error {
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.Hold != nil {
		select {
		case <-f.Hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

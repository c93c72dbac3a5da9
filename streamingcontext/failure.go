package streamingcontext

import (
	"errors"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
)

// A FailureAction is what becomes of a batch that failed, once it is not run again.
type FailureAction int

// The actions.
const (
	// StopOnFailure ends the context with the batch's error. The other outputs of the batch are still run, and the
	// batches before it are finished; jobs of later batches are not started. The batch stays pending.
	StopOnFailure FailureAction = iota
	// SetAside gives the batch up and goes on: it is committed in its turn, with a manifest that says which outputs
	// failed, and Context.SetAside lists it. State counts its records all the same, where they can be computed. Later
	// batches that need what cannot be computed fail as well: windows while they reach back to it; state, and windows with
	// an inverse function, from then on. Where a batch could not even be generated, state goes on from what it had before.
	SetAside
)

// String returns the action's name.
func (a FailureAction) String() string {
	switch a {
	case StopOnFailure:
		return "stop"
	case SetAside:
		return "set aside"
	}
	return fmt.Sprintf("action %d", int(a))
}

// A FailurePolicy says what a context does when a batch fails. The zero value stops at the first failure, since
// results behind a batch that is missing may be wrong.
//
// A task that fails is tried again by the scheduler, by EngineOptions.MaxFailures, before its output fails at all.
type FailurePolicy struct {
	// Retries is how often the outputs of a batch that failed are run again, those only that failed. Later batches
	// wait meanwhile. Their functions are called again, so side effects happen at least once. A batch that could
	// not be generated is not tried again: its inputs were asked once.
	Retries int
	// RetryDelay is the wait before each of them, on the context's clock, in whole milliseconds. 0 means none.
	RetryDelay time.Duration
	// Then is what becomes of a batch that fails still.
	Then FailureAction
}

// Validate returns what is wrong with the policy, joined.
func (p FailurePolicy) Validate() error {
	var errs []error
	if p.Retries < 0 {
		errs = append(errs, fmt.Errorf("failure policy: Retries is negative"))
	}
	if p.RetryDelay < 0 || p.RetryDelay%time.Millisecond != 0 {
		errs = append(errs, fmt.Errorf("failure policy: RetryDelay: %w: %v is not a whole number of milliseconds", dstream.ErrBadDuration, p.RetryDelay))
	}
	if p.Then != StopOnFailure && p.Then != SetAside {
		errs = append(errs, fmt.Errorf("failure policy: Then: %v is not known", p.Then))
	}
	return errors.Join(errs...)
}

// String returns the policy in words.
func (p FailurePolicy) String() string {
	if p.Retries == 0 {
		return p.Then.String()
	}
	return fmt.Sprintf("%d retries, delay %v, then %v", p.Retries, p.RetryDelay, p.Then)
}

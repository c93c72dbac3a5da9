package scheduler

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options set up a scheduler. The zero value works.
type Options struct {
	// MaxFailures is how often one partition may fail within a stage attempt before its job fails.
	// 0 means 4.
	MaxFailures int
	// MaxStageFailures is how many attempts in a row a stage may lose to fetch failures before the
	// jobs that need it fail. 0 means 4.
	MaxStageFailures int
	// ResubmitDelay is how long a stage waits after a fetch failure before it is run again, so that a
	// burst of failures makes one rerun. 0 means as soon as the reports already queued are handled,
	// which suits executors in this process; 200ms suits a network.
	ResubmitDelay time.Duration
	// Listeners are told what happens. None costs nothing.
	Listeners []Listener
	// ListenerQueue is how many events may wait for one listener; more are dropped and counted. 0
	// means 10000.
	ListenerQueue int
	// Logger takes stages given up (Error), retries (Warn), executors that come and go (Info) and
	// attempts (Debug). nil discards.
	Logger *slog.Logger
}

// Validate returns what is wrong with the options, joined.
func (o Options) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"MaxFailures", int64(o.MaxFailures)},
		{"MaxStageFailures", int64(o.MaxStageFailures)},
		{"ResubmitDelay", int64(o.ResubmitDelay)},
		{"ListenerQueue", int64(o.ListenerQueue)},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("scheduler options: %s is negative", f.name))
		}
	}
	return errors.Join(errs...)
}

// String returns the options with their defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("max failures %d, max stage failures %d, resubmit delay %v, listeners %d, listener queue %d",
		o.MaxFailures, o.MaxStageFailures, o.ResubmitDelay, len(o.Listeners), o.ListenerQueue)
}

func (o Options) withDefaults() Options {
	if o.MaxFailures == 0 {
		o.MaxFailures = 4
	}
	if o.MaxStageFailures == 0 {
		o.MaxStageFailures = 4
	}
	if o.ListenerQueue == 0 {
		o.ListenerQueue = 10000
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

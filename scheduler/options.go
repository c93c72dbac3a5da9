package scheduler

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const defaultMaxResultSize = 1 << 30

// Options set up a scheduler. The zero value works.
type Options struct {
	// MaxFailures is how often one partition may fail within a stage attempt before its job fails.
	// 0 means 4.
	MaxFailures int
	// MaxStageFailures is how many attempts in a row a stage may lose to fetch failures before the
	// jobs that need it fail. 0 means 4.
	MaxStageFailures int
	// MaxStageAttempts is how many attempts a stage may have in all before another fetch failure fails
	// the jobs that need it. 0 means any number.
	MaxStageAttempts int
	// MaxResultSize is how many bytes the results of one attempt of a job's last stage may have in all,
	// as far as they are counted: those that stay in this process as they are may not be. More fails the
	// job. 0 means 1 GiB, less than 0 no limit.
	MaxResultSize int64
	// ResubmitDelay is how long a stage waits after a fetch failure before it is run again, so that a
	// burst of failures makes one rerun. 0 means as soon as the reports already queued are handled,
	// which suits executors in this process; 200ms suits a network.
	ResubmitDelay time.Duration
	// Mode is how jobs share the executors: the earlier one first, or by pools.
	Mode Mode
	// Pools are the pools of a FAIR scheduler, parents before what is nested in them. A job that names
	// another gets one with the defaults. FIFO ignores them.
	Pools []Pool
	// LocalityWait is how long a task set with tasks that prefer a place waits for a slot there, before it
	// takes one that is next best: on the host, then in the rack, then anywhere. 0 means not at all, which
	// suits executors in this process; 3s suits a network. Where no executor is in the place nobody waits.
	LocalityWait time.Duration
	// Rack returns the rack of a host, empty if it is not known. nil knows none. It is called often.
	Rack func(host string) string
	// Speculation runs copies of tasks that take much longer than others. Off by default.
	Speculation Speculation
	// Exclusion keeps tasks away from executors that fail. Off by default.
	Exclusion Exclusion
	// Listeners are told what happens. None costs nothing.
	Listeners []Listener
	// ListenerQueue is how many events may wait for one listener; more are dropped and counted. 0
	// means 10000.
	ListenerQueue int
	// ListenerPatience is how long Close waits for a listener that does not return from a call. What is
	// queued for it is dropped then. 0 means 10s.
	ListenerPatience time.Duration
	// StageWatch is told of each attempt of a stage that is over, on the scheduler's loop: before a job returns
	// that was waiting for it. It must be quick and call nothing of the scheduler. nil costs nothing.
	StageWatch func(StageCompleted)
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
		{"MaxStageAttempts", int64(o.MaxStageAttempts)},
		{"ResubmitDelay", int64(o.ResubmitDelay)},
		{"ListenerQueue", int64(o.ListenerQueue)},
		{"ListenerPatience", int64(o.ListenerPatience)},
		{"LocalityWait", int64(o.LocalityWait)},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("scheduler options: %s is negative", f.name))
		}
	}
	if o.Mode > FAIR {
		errs = append(errs, fmt.Errorf("scheduler options: %s is no mode", o.Mode))
	}
	errs = append(errs, validatePools(o.Pools), o.Speculation.validate(), o.Exclusion.validate())
	return errors.Join(errs...)
}

// String returns the options with their defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	s := fmt.Sprintf("max failures %d, max stage failures %d, resubmit delay %v, listeners %d, listener queue %d",
		o.MaxFailures, o.MaxStageFailures, o.ResubmitDelay, len(o.Listeners), o.ListenerQueue)
	if o.Mode != FIFO {
		s += fmt.Sprintf(", %s with %d pools", o.Mode, len(o.Pools))
	}
	if o.MaxStageAttempts > 0 {
		s += fmt.Sprintf(", max stage attempts %d", o.MaxStageAttempts)
	}
	if o.MaxResultSize != defaultMaxResultSize {
		s += fmt.Sprintf(", max result size %d", o.MaxResultSize)
	}
	if o.LocalityWait > 0 {
		s += fmt.Sprintf(", locality wait %v", o.LocalityWait)
	}
	if o.Speculation.Enabled {
		s += ", speculation after " + fmt.Sprintf("%v x %v", o.Speculation.Multiplier, o.Speculation.Quantile)
	}
	if o.Exclusion.Enabled {
		s += fmt.Sprintf(", exclusion for %v", o.Exclusion.Timeout)
	}
	return s
}

func (o Options) withDefaults() Options {
	if o.MaxFailures == 0 {
		o.MaxFailures = 4
	}
	if o.MaxStageFailures == 0 {
		o.MaxStageFailures = 4
	}
	if o.MaxResultSize == 0 {
		o.MaxResultSize = defaultMaxResultSize
	}
	if o.ListenerQueue == 0 {
		o.ListenerQueue = 10000
	}
	if o.ListenerPatience == 0 {
		o.ListenerPatience = 10 * time.Second
	}
	o.Speculation = o.Speculation.withDefaults()
	o.Exclusion = o.Exclusion.withDefaults()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

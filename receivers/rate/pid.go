package rate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/leat-io/leat/receivers"
)

// PIDOptions weigh the terms of a [PID]. The zero value as a whole stands for DefaultPID; where any field is set, all of
// them are taken as they are, so that a term can be switched off.
type PIDOptions struct {
	// Proportional weighs the difference between the rate and the speed of the last batch, at least 0. With 1 the rate
	// becomes that speed.
	Proportional float64
	// Integral weighs what waits already, at least 0: the records that could have been processed while the batch waited,
	// a batch interval's share of them.
	Integral float64
	// Derived weighs how fast the difference changes, at least 0. It answers sooner, but takes noise for change.
	Derived float64
	// MinRate is the least rate in records per second, above 0.
	MinRate float64
}

// DefaultPID returns what the zero PIDOptions stand for: 1, 0.2, 0 and at least 100 records per second.
func DefaultPID() PIDOptions { return PIDOptions{Proportional: 1, Integral: 0.2, MinRate: 100} }

// Validate returns a *receivers.OptionError for each option that cannot be used, joined.
func (o PIDOptions) Validate() error {
	o = o.withDefaults()
	var errs []error
	for _, f := range []struct {
		option string
		value  float64
	}{{"Proportional", o.Proportional}, {"Integral", o.Integral}, {"Derived", o.Derived}} {
		if !(f.value >= 0) || math.IsInf(f.value, 1) {
			errs = append(errs, &receivers.OptionError{Option: f.option, Value: f.value, Reason: "want zero or more"})
		}
	}
	if !(o.MinRate > 0) || math.IsInf(o.MinRate, 1) {
		errs = append(errs, &receivers.OptionError{Option: "MinRate", Value: o.MinRate, Reason: "want more than zero"})
	}
	return errors.Join(errs...)
}

// String returns the options in effect.
func (o PIDOptions) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("proportional %v, integral %v, derived %v, min rate %v/s", o.Proportional, o.Integral, o.Derived, o.MinRate)
}

func (o PIDOptions) withDefaults() PIDOptions {
	if o == (PIDOptions{}) {
		return DefaultPID()
	}
	return o
}

// PID is an [Estimator] that brings the rate to the speed at which batches are processed, less what it takes to work
// off the batches that wait.
//
//	error   = rate - speed                      speed: records per second of processing
//	backlog = scheduling delay x speed / batch interval
//	rate   := max(rate - P error - I backlog - D change of error, least rate)
//
// The first batch with records only sets the rate it starts from. A batch without records, one that took no time, and
// one that ended no later than another before it change nothing.
type PID struct {
	opts     PIDOptions
	interval float64 // milliseconds

	begun     bool
	time      int64
	rate, err float64
}

// NewPID returns a PID for batches that are interval apart.
//
// Errors: a joined *receivers.OptionError for an interval that is not positive and each option that cannot be used.
func NewPID(interval time.Duration, opts PIDOptions) (*PID, error) {
	err := opts.Validate()
	if interval <= 0 {
		err = errors.Join(&receivers.OptionError{Option: "Interval", Value: interval, Reason: "want more than zero"}, err)
	}
	if err != nil {
		return nil, err
	}
	return &PID{opts: opts.withDefaults(), interval: millis(interval), time: -1, rate: -1, err: -1}, nil
}

// Estimate returns the next rate.
func (p *PID) Estimate(b Batch) (perSecond float64, ok bool) {
	if b.Ended <= p.time || b.Records <= 0 || b.Processing <= 0 {
		return 0, false
	}
	seconds := float64(b.Ended-p.time) / 1000
	speed := 1000 * float64(b.Records) / millis(b.Processing)
	err := p.rate - speed
	backlog := millis(b.Scheduling) * speed / p.interval
	change := (err - p.err) / seconds
	p.time = b.Ended
	if !p.begun {
		p.begun, p.rate, p.err = true, speed, 0
		return 0, false
	}
	p.rate = max(p.rate-p.opts.Proportional*err-p.opts.Integral*backlog-p.opts.Derived*change, p.opts.MinRate)
	p.err = err
	return p.rate, true
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

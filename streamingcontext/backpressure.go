package streamingcontext

import (
	"errors"
	"fmt"
	"time"

	"github.com/leat-io/leat/receivers/rate"
)

// Backpressure says how the rate of receivers, and of inputs of files, follows the speed of the batches. The zero value is off:
// receivers then wait only while MaxPendingRecords are held, or at MaxRate, and a batch takes all files that are there.
//
// The rate of an input of files bounds how many of them a batch takes; see FileStream. With it the records of files are
// counted as they are read, and the batch's InputInfo says how many they were once it is over, if all were read.
//
// A rate is of one receiver and counts the records that it stores one by one. What a receiver stores as whole blocks is
// not limited by rate, only by MaxPendingRecords; so is every receiver where the rate is too high.
type Backpressure struct {
	// Enabled sets the rate of each receiver and input of files, when a batch is over, by how long its jobs took and had waited.
	Enabled bool
	// InitialRate is the rate in records per second until the first estimate, which takes two batches; it holds also where
	// Enabled is false. 0 means Options.MaxRate. Without either, everything that is there comes into the first batches, and
	// they are what the rate has to recover from.
	InitialRate int64
	// Estimator names the estimator. Empty means "pid", which is the only one.
	Estimator string
	// PID are the weights of "pid". The zero value means rate.DefaultPID.
	PID rate.PIDOptions
	// NewEstimator makes the estimator of each such stream, in place of the one that is named. It is called when
	// receivers start; interval is the context's.
	NewEstimator func(stream int, interval time.Duration) (rate.Estimator, error)
}

// Validate returns what is wrong with the options, joined.
func (b Backpressure) Validate() error {
	var errs []error
	if b.InitialRate < 0 {
		errs = append(errs, errors.New("back-pressure: InitialRate is negative"))
	}
	if b.NewEstimator != nil && b.Estimator != "" {
		errs = append(errs, errors.New("back-pressure: Estimator and NewEstimator are both set"))
	}
	if err := rate.Check(b.Estimator); err != nil {
		errs = append(errs, fmt.Errorf("back-pressure: %w", err))
	}
	if err := b.PID.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("back-pressure: %w", err))
	}
	return errors.Join(errs...)
}

// String returns the options in effect.
func (b Backpressure) String() string {
	s := "off"
	switch {
	case b.Enabled && b.NewEstimator != nil:
		s = "on, estimator of the program's"
	case b.Enabled:
		s = fmt.Sprintf("on, %s: %v", rate.Default, b.PID)
	}
	if b.InitialRate > 0 {
		s += fmt.Sprintf(", initial rate %d/s", b.InitialRate)
	}
	return s
}

// estimator returns the estimator of a stream, nil if the rate is not to change.
func (b Backpressure) estimator(stream int, interval time.Duration) (rate.Estimator, error) {
	switch {
	case !b.Enabled:
		return nil, nil
	case b.NewEstimator != nil:
		var e rate.Estimator
		err := apart(func() (err error) {
			e, err = b.NewEstimator(stream, interval)
			return err
		})
		if err == nil && e == nil {
			err = errors.New("it is nil")
		}
		return e, err
	}
	return rate.New(b.Estimator, interval, b.PID)
}

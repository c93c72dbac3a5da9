package rate

import (
	"errors"
	"fmt"
	"time"
)

// Default is the name of the estimator that is used where none is named.
const Default = "pid"

// ErrUnknown is returned for the name of an estimator that does not exist.
var ErrUnknown = errors.New("rate: unknown estimator")

// A Batch is what is known of a batch that is over.
type Batch struct {
	Ended      int64         // when its last job ended, in milliseconds of the clock
	Records    int64         // of the estimator's own stream
	Processing time.Duration // from the start of its first job to the end of its last
	Scheduling time.Duration // how long it had waited before, and its records while they were held back
}

// An Estimator answers with a rate for one stream.
type Estimator interface {
	// Estimate returns the records per second that the stream may have from now on; ok is false where the batch gives
	// no reason to change the rate. It is called once a batch, when the batch's jobs have ended, one call at a time, in
	// the order in which batches end. It must not block: the batch is not over before it returns.
	Estimate(b Batch) (perSecond float64, ok bool)
}

// Check returns whether New would take a name, without an interval. The empty name stands for Default.
//
// Errors: ErrUnknown.
func Check(name string) error {
	if name != "" && name != Default {
		return fmt.Errorf("%w %q, there is only %q", ErrUnknown, name, Default)
	}
	return nil
}

// New returns the estimator with a name, for batches that are interval apart. The empty name stands for Default.
//
// Errors: ErrUnknown; as NewPID.
func New(name string, interval time.Duration, opts PIDOptions) (Estimator, error) {
	if err := Check(name); err != nil {
		return nil, err
	}
	return NewPID(interval, opts)
}

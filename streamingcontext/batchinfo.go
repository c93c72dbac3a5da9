package streamingcontext

import (
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler"
)

// Unknown is a time that has not come yet.
const Unknown int64 = -1

// BatchInfo is what is known of a batch when an event about it is told. Times are readings of the
// context's clock in milliseconds, or Unknown.
type BatchInfo struct {
	Time      dstream.Time
	ID        int64               // in the driver log, from 0, without gaps
	Intervals int64               // how many batch intervals it covers, 1 unless batches were left out before it
	Inputs    []dstream.InputInfo // what the inputs gave; must not be changed
	Submitted int64               // when its jobs were queued
	Started   int64               // when the first of them started
	Ended     int64               // when the last of them ended
	Outputs   []OutputInfo        // one a job, in their order; a copy of its own
}

// SchedulingDelay returns how long the batch waited for its turn; false if that is not known yet.
func (b BatchInfo) SchedulingDelay() (time.Duration, bool) { return between(b.Submitted, b.Started) }

// ProcessingDelay returns how long its jobs took; false if that is not known yet.
func (b BatchInfo) ProcessingDelay() (time.Duration, bool) { return between(b.Started, b.Ended) }

// TotalDelay returns the time from submission to end; false if that is not known yet.
func (b BatchInfo) TotalDelay() (time.Duration, bool) { return between(b.Submitted, b.Ended) }

// Records returns the number of records that all inputs gave.
func (b BatchInfo) Records() int64 {
	var n int64
	for _, in := range b.Inputs {
		n += in.Records
	}
	return n
}

// Waiting returns how many items, as files, inputs have left for later batches, and how large they are together.
func (b BatchInfo) Waiting() (items, bytes int64) {
	for _, in := range b.Inputs {
		items, bytes = items+in.Waiting, bytes+in.WaitingBytes
	}
	return items, bytes
}

// Failed reports whether an output of the batch has failed.
func (b BatchInfo) Failed() bool {
	for _, o := range b.Outputs {
		if o.Err != nil {
			return true
		}
	}
	return false
}

// OutputInfo is what is known of one output of a batch.
type OutputInfo struct {
	Batch   dstream.Time
	ID      int    // position among the batch's jobs
	Name    string // the output operation, as in "print"
	Site    string // file and line of its declaration
	Started int64  // as in BatchInfo
	Ended   int64
	Err     error // why it failed; set at OutputCompleted only
	Attempt int   // how often it was started, this time included
}

// Duration returns how long the output took; false if that is not known yet.
func (o OutputInfo) Duration() (time.Duration, bool) { return between(o.Started, o.Ended) }

// ReceiverInfo is what is known of a receiver.
type ReceiverInfo struct {
	Stream      int                  // the input's number, from 0 in the order declared
	Name        string               // as in "Socket stream [0]"
	Active      bool                 // it runs
	Attempt     int                  // how often it was started, this time included
	LastError   error                // nil if there was none
	LastErrorAt int64                // the clock's time of the last error, Unknown if there was none
	Rate        int64                // records a second that it may store one by one, 0 for no limit
	Executor    scheduler.ExecutorID // the executor it is placed on, empty while there is none
}

func between(from, to int64) (time.Duration, bool) {
	if from == Unknown || to == Unknown {
		return 0, false
	}
	return time.Duration(to-from) * time.Millisecond, true
}

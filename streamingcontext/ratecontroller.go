package streamingcontext

import (
	"log/slog"
	"math"
	"sync"

	"github.com/leat-io/leat/receivers/rate"
)

// A rateController sets the rate of one receiver from how its batches went. It is called where a batch ends and not
// through the queue of the listeners, which may drop what is most needed: the news of slow batches.
type rateController struct {
	stream    int
	estimator rate.Estimator
	set       func(perSecond int64) // of the receiver
	log       *slog.Logger

	mu sync.Mutex // held while the estimator is asked
}

// maxEstimate is the greatest rate that is passed on; it is none at all.
const maxEstimate = 1e15

// batchEnded tells the estimator of a batch, if all that it asks for is known, and passes on its answer. What the
// program's own estimator does wrong costs an estimate and no more.
//
// Records that a full block log holds back wait before their batch is cut, where its scheduling delay does not count it. To
// the estimator a wait is a wait: without it a receiver that is far ahead would look as if it were just in time, and stay
// far ahead for good.
func (r *rateController) batchEnded(info BatchInfo, held []heldUp) {
	records, known := recordsOf(info, r.stream)
	processing, processed := info.ProcessingDelay()
	scheduling, scheduled := info.SchedulingDelay()
	if !known || !processed || !scheduled {
		return
	}
	for _, h := range held {
		if h.stream == r.stream {
			scheduling += h.wait
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var estimate float64
	var ok bool
	err := apart(func() error {
		estimate, ok = r.estimator.Estimate(rate.Batch{
			Ended: info.Ended, Records: records, Processing: processing, Scheduling: scheduling})
		return nil
	})
	switch {
	case err != nil:
		r.log.Error("rate not estimated", "receiver", r.stream, "batch", int64(info.Time), "err", err)
	case !ok:
	case math.IsNaN(estimate):
		r.log.Warn("estimated rate is no number", "receiver", r.stream, "batch", int64(info.Time))
	default:
		r.set(int64(min(estimate, maxEstimate))) // what is below 1 is ignored by the limiter
	}
}

// recordsOf returns what a stream gave to a batch; false if it did not say.
func recordsOf(info BatchInfo, stream int) (records int64, ok bool) {
	for _, in := range info.Inputs {
		if in.Stream == stream {
			return in.Records, true
		}
	}
	return 0, false
}

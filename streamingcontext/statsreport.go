package streamingcontext

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// DefaultStatsBatches is over how many batches StatsReport reports.
const DefaultStatsBatches = 10

// StatsReport returns a listener that, after each completed batch, writes how total delay and processing time were
// distributed over the last n: least, first quarter, median, third quarter, most. n of 0 or less means 10. What
// w returns as an error is ignored; a w that blocks holds up the listeners.
func StatsReport(w io.Writer, n int) Listener {
	if n <= 0 {
		n = DefaultStatsBatches
	}
	r := &statsReport{w: w, n: n}
	return Listener{BatchCompleted: r.completed}
}

// statsReport remembers the last completed batches. A listener may be given to several contexts.
type statsReport struct {
	w io.Writer
	n int

	mu                sync.Mutex // guards the fields below and w
	total, processing []time.Duration
}

func (r *statsReport) completed(b BatchInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total = r.add(r.total, b.TotalDelay)
	r.processing = r.add(r.processing, b.ProcessingDelay)
	_, _ = fmt.Fprintf(r.w, "total delay of %d: %s\nprocessing time of %d: %s\n",
		len(r.total), quarters(r.total), len(r.processing), quarters(r.processing))
}

func (r *statsReport) add(last []time.Duration, delay func() (time.Duration, bool)) []time.Duration {
	d, known := delay()
	if !known {
		return last
	}
	if len(last) == r.n {
		last = slices.Delete(last, 0, 1)
	}
	return append(last, d)
}

// quarters describes durations: of n in order, those at 0, n/4, n/2, 3n/4 and the last one.
func quarters(last []time.Duration) string {
	if len(last) == 0 {
		return "unknown"
	}
	d := slices.Sorted(slices.Values(last))
	at := func(quarter int) time.Duration { return d[min(quarter*len(d)/4, len(d)-1)] }
	return fmt.Sprintf("min %v, 25%% %v, median %v, 75%% %v, max %v", at(0), at(1), at(2), at(3), at(4))
}

package metrics

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// bounds are the upper bounds of the buckets of Durations, in seconds: from a write to a fast disk to what nobody should wait for.
var bounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// Durations counts how long something took, by buckets from 1 ms to 10 s. The zero value is ready. Any goroutine may call anything.
type Durations struct {
	counts [len(bounds) + 1]atomic.Uint64 // not cumulative; the last is for what took longer
	nanos  atomic.Uint64
}

// Observe counts one more. What is below zero counts as 0.
func (d *Durations) Observe(took time.Duration) {
	took = max(took, 0)
	i := 0
	for i < len(bounds) && took.Seconds() > bounds[i] {
		i++
	}
	d.counts[i].Add(1)
	d.nanos.Add(uint64(took))
}

// Count returns how many were counted.
func (d *Durations) Count() (n uint64) {
	for i := range d.counts {
		n += d.counts[i].Load()
	}
	return n
}

// histogram returns what was counted. While others count, the sum may be of one more or less than the count.
func (d *Durations) histogram(desc *prometheus.Desc) prometheus.Metric {
	cumulative, n := make(map[float64]uint64, len(bounds)), uint64(0)
	for i := range d.counts {
		n += d.counts[i].Load()
		if i < len(bounds) {
			cumulative[bounds[i]] = n
		}
	}
	sum := math.Round(float64(d.nanos.Load())/1e3) / 1e6 // microseconds are enough
	return prometheus.MustNewConstHistogram(desc, n, sum, cumulative)
}

package metrics

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// A Collector gives Prometheus what a progress store knows. It is to be registered once.
type Collector struct{ store *progress.Store }

var _ prometheus.Collector = Collector{}

// New returns a collector over a store.
func New(store *progress.Store) Collector { return Collector{store} }

// Handler returns what answers Prometheus about one store, with a registry of its own.
func Handler(store *progress.Store) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(New(store)) // alone in it
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// Describe sends what Collect may send.
func (c Collector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range streamingMetrics {
		out <- m.desc
	}
	for _, m := range schedulerMetrics {
		out <- m.desc
	}
	for _, m := range receiverMetrics {
		out <- m.desc
	}
	out <- receiversDesc
	out <- inputRecordsDesc
	out <- droppedDesc
}

// Collect sends what the store knows now.
func (c Collector) Collect(out chan<- prometheus.Metric) {
	snap, counts := c.store.Snapshot(), c.store.Scheduler()
	for _, m := range streamingMetrics {
		out <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(&snap))
	}
	for _, m := range schedulerMetrics {
		out <- prometheus.MustNewConstMetric(m.desc, m.kind, float64(m.value(&counts)), m.labels...)
	}
	active := snap.ActiveReceivers()
	out <- prometheus.MustNewConstMetric(receiversDesc, prometheus.GaugeValue, float64(active), "active")
	out <- prometheus.MustNewConstMetric(receiversDesc, prometheus.GaugeValue, float64(len(snap.Receivers)-active), "inactive")
	for _, r := range snap.Receivers {
		for _, m := range receiverMetrics {
			out <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(&r), strconv.Itoa(r.Stream), valid(r.Name))
		}
	}
	for _, in := range snap.Inputs {
		out <- prometheus.MustNewConstMetric(inputRecordsDesc, prometheus.CounterValue, float64(in.Records), strconv.Itoa(in.Stream), valid(in.Name))
	}
	out <- prometheus.MustNewConstMetric(droppedDesc, prometheus.CounterValue, float64(snap.DroppedEvents), "streaming")
	out <- prometheus.MustNewConstMetric(droppedDesc, prometheus.CounterValue, float64(counts.DroppedEvents), "scheduler")
}

// A scalar is a metric of which there is one value.
type scalar struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*progress.Snapshot) float64
}

// seconds returns a time or span in milliseconds in seconds, and an unknown one as it is.
func seconds(ms int64) float64 {
	if ms == streamingcontext.Unknown {
		return -1
	}
	return float64(ms) / 1000
}

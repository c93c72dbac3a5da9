package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/leat-io/leat/streamingcontext/progress"
)

// A Driver is what there is to tell of one driver of a cluster at a moment, as that driver knows it. cluster.Node.Measures returns one.
type Driver struct {
	ID, Cluster, App string
	Does             string // "idle", "starting", "standing by", "beginning" or "leading"

	Healthy, Ready bool // as /healthz and /readyz say
	Leads          bool // in the replicated log; it makes batches where Does says so
	LeaderKnown    bool
	Poisoned       bool // its storage takes no more writes

	Term, Epoch        uint64
	Committed, Applied uint64        // entries of the replicated log that are decided, and that this driver has applied
	ApplyLag           time.Duration // how long one of those between them has been waiting, as far as was looked
	LastContact        time.Duration // since it heard of the leader; 0 on the leader, negative where it never did
	LeaderChanges      uint64        // how often it has heard of a new leader
	Members, Voters    int

	Batch     int64 // the last one that was committed, -1 if none is known
	BatchTime int64 // its time in milliseconds
	Now       int64 // the clock's time in milliseconds
	Open      int   // batches that were begun after it

	Commits   *Durations // of decisions that this driver has proposed
	Undecided uint64     // proposals of which it is not known whether they were decided

	Snapshots               uint64 // that this process has taken
	SnapshotBytes, LogBytes int64  // on its disk
	FreeBytes               int64  // that the disk has left, -1 where that is not known
	LowSpace                bool   // it does not lead for want of room on its disk

	Blocks *Blocks // nil where received blocks are on one driver
}

// Blocks are copies of received blocks that a driver keeps, and those of its own that others keep while it leads.
type Blocks struct {
	Segments int   // files
	Bytes    int64 // in them
	Waiting  int   // blocks that are not acknowledged, for want of copies
	Copies   []Copy
}

// A Copy is how the blocks of the driver that leads fare on another one.
type Copy struct {
	Driver    string
	Connected bool
	Behind    int64 // bytes that it lacks
}

// roles are what a driver may be doing.
var roles = [...]string{"idle", "starting", "standing by", "beginning", "leading"}

// A DriverCollector gives Prometheus what a driver of a cluster knows. It is to be registered once.
type DriverCollector struct{ now func() Driver }

var _ prometheus.Collector = DriverCollector{}

// NewDriver returns a collector that asks now at each scrape.
func NewDriver(now func() Driver) DriverCollector { return DriverCollector{now} }

// DriverHandler returns what answers Prometheus about a driver, and about a store beside it unless that is nil, with a registry of its own.
func DriverHandler(now func() Driver, store *progress.Store) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewDriver(now))
	if store != nil {
		registry.MustRegister(New(store)) // no name is in both
	}
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// Describe sends what Collect may send.
func (c DriverCollector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range driverMetrics {
		out <- m.desc
	}
	for _, m := range blockMetrics {
		out <- m.desc
	}
	for _, d := range []*prometheus.Desc{driverDesc, doesDesc, commitDesc, connectedDesc, behindDesc} {
		out <- d
	}
}

// Collect sends what the driver knows now.
func (c DriverCollector) Collect(out chan<- prometheus.Metric) {
	d := c.now()
	out <- prometheus.MustNewConstMetric(driverDesc, prometheus.GaugeValue, 1, valid(d.ID), valid(d.Cluster), valid(d.App))
	for _, role := range roles {
		out <- prometheus.MustNewConstMetric(doesDesc, prometheus.GaugeValue, truth(d.Does == role), role)
	}
	for _, m := range driverMetrics {
		out <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(&d))
	}
	commits := d.Commits
	if commits == nil {
		commits = new(Durations)
	}
	out <- commits.histogram(commitDesc)
	if d.Blocks == nil {
		return
	}
	for _, m := range blockMetrics {
		out <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(&d))
	}
	for _, to := range d.Blocks.Copies {
		out <- prometheus.MustNewConstMetric(connectedDesc, prometheus.GaugeValue, truth(to.Connected), valid(to.Driver))
		out <- prometheus.MustNewConstMetric(behindDesc, prometheus.GaugeValue, float64(to.Behind), valid(to.Driver))
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

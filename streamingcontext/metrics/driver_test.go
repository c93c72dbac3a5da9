package metrics_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/leat-io/leat/streamingcontext/metrics"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// leads is a driver of which everything is told.
func leads() metrics.Driver {
	d := metrics.Driver{ID: "a-0123456789abcdef", Cluster: strings.Repeat("0a", 16), App: "odd \xff\"", Does: "leading", Healthy: true, Ready: true,
		Leads: true, LeaderKnown: true, Term: 3, Epoch: 7, Committed: 120, Applied: 118, ApplyLag: 1500 * time.Millisecond, LeaderChanges: 2,
		Members: 4, Voters: 3, Batch: 41, BatchTime: 1_700_000_000_250, Now: 1_700_000_002_000, Open: 2, Commits: new(metrics.Durations), Undecided: 1,
		Snapshots: 5, SnapshotBytes: 6000, LogBytes: 70_000, FreeBytes: 1 << 40,
		Blocks: &metrics.Blocks{Segments: 2, Bytes: 800, Waiting: 3, Copies: []metrics.Copy{{"b-0", true, 0}, {"c-0", false, 90}}}}
	for _, took := range []time.Duration{-1, time.Millisecond, time.Millisecond + 1, 700 * time.Millisecond, time.Minute} {
		d.Commits.Observe(took)
	}
	return d
}

func TestMetricsOfADriver(t *testing.T) {
	want, err := os.Open("testdata/driver.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	if err := testutil.CollectAndCompare(metrics.NewDriver(leads), want); err != nil {
		t.Error(err)
	}
	if n := leads().Commits.Count(); n != 5 {
		t.Errorf("%d are counted", n)
	}
}

func TestMetricsOfADriverFollowTheRulesForNames(t *testing.T) {
	problems, err := testutil.CollectAndLint(metrics.NewDriver(leads))
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %+v", err, problems)
	}
}

// One scrape has a driver and its streams, and what is not known is -1.
func TestADriverThatKnowsNothing(t *testing.T) {
	unknown := func() metrics.Driver { return metrics.Driver{Batch: -1, LastContact: -1, FreeBytes: -1} }
	text := scrape(t, metrics.DriverHandler(unknown, progress.New(progress.Options{})))
	for _, want := range []string{
		"leat_cluster_last_contact_seconds -1\n", "leat_cluster_last_committed_batch -1\n", "leat_cluster_last_committed_batch_age_seconds -1\n",
		"leat_cluster_last_committed_batch_time_seconds -1\n", "leat_cluster_disk_free_bytes -1\n", "leat_cluster_commit_duration_seconds_count 0\n",
		"leat_streaming_completed_batches_total 0\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if alone := scrape(t, metrics.DriverHandler(unknown, nil)); strings.Contains(alone, "leat_streaming_") || strings.Contains(alone, "leat_cluster_block") {
		t.Errorf("a driver alone has\n%s", alone)
	}
}

func ExampleDriverHandler() {
	// In a program: cluster.Node.Handler serves it.
	h := metrics.DriverHandler(func() metrics.Driver { return metrics.Driver{Leads: true, Epoch: 4} }, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "leat_cluster_epoch") || strings.HasPrefix(line, "leat_cluster_leader ") {
			fmt.Print(line)
		}
	}
	// Output:
	// leat_cluster_epoch 4
	// leat_cluster_leader 1
}

func ExampleNewDriver() {
	registry := prometheus.NewPedanticRegistry() // of the program's own, beside other collectors
	err := registry.Register(metrics.NewDriver(func() metrics.Driver { return metrics.Driver{} }))
	fmt.Println(err)
	// Output: <nil>
}

func BenchmarkScrapeOfADriver(b *testing.B) {
	h := metrics.DriverHandler(leads, nil)
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil))
	}
}

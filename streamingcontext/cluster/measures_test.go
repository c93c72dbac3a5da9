package cluster_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/streamingcontext/cluster"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// series returns what /metrics says of a driver now, by the name of the series.
func series(t *testing.T, r *driver) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	all := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^(leat_.*) (\S+)$`).FindAllStringSubmatch(w.Body.String(), -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatalf("%s: %v", m[0], err)
		}
		all[m[1]] = v
	}
	return all
}

func TestMeasures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrivers(t)
		opts := d.reached("a", true)
		opts.Progress = progress.New(progress.Options{App: "counts", Interval: 100 * time.Millisecond})
		a, b := d.open("a", opts), d.open("b", d.reached("b", false))
		says := func(r *driver, want map[string]float64) {
			t.Helper()
			got := series(t, r)
			for name, v := range want {
				if has, ok := got["leat_cluster_"+name]; !ok || has != v {
					t.Errorf("%s says %s is %v (there %t), want %v", r.name, name, has, ok, v)
				}
			}
		}
		says(b, map[string]float64{"healthy": 0, "ready": 0, "leader": 0, "leader_known": 0, "last_contact_seconds": -1, "members": 0, "voters": 0,
			"last_committed_batch": -1, "last_committed_batch_age_seconds": -1, `driver_role{role="idle"}`: 1, "commit_duration_seconds_count": 0})
		d.drive(a)
		d.drive(b)
		<-d.led
		d.join(a, b)
		d.receive("x", "y")
		d.shown(2)
		if err := a.Log().Snapshot(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second + time.Millisecond)
		says(a, map[string]float64{"healthy": 1, "ready": 1, "leader": 1, "leader_known": 1, "last_contact_seconds": 0, "members": 2, "voters": 2, "poisoned": 0,
			"epoch": 1, "leader_changes_total": 1, "snapshots_total": 1, "apply_lag_entries": 0, "apply_lag_seconds": 0, `driver_role{role="leading"}`: 1,
			`block_copies_connected{driver="` + b.Log().ID() + `"}`: 1, "undecided_proposals_total": 0})
		says(b, map[string]float64{"ready": 1, "leader": 0, "leader_known": 1, "epoch": 1, `driver_role{role="standing by"}`: 1, "commit_duration_seconds_count": 0})
		got, other := series(t, a), series(t, b)
		for _, m := range []map[string]float64{got, other} {
			if age := m["leat_cluster_last_committed_batch_age_seconds"]; m["leat_cluster_last_committed_batch"] < 10 || age < 0 || age > 1 {
				t.Errorf("batch %v, %v s ago", m["leat_cluster_last_committed_batch"], age)
			}
			if m["leat_cluster_block_bytes"] == 0 || m["leat_cluster_log_bytes"] == 0 {
				t.Errorf("no bytes of blocks or of the log in %v", m)
			}
		}
		if got["leat_cluster_snapshot_bytes"] == 0 || got["leat_cluster_commit_duration_seconds_count"] < 30 {
			t.Errorf("snapshots of %v bytes, %v decisions", got["leat_cluster_snapshot_bytes"], got["leat_cluster_commit_duration_seconds_count"])
		}
		// One scrape has the streams as well.
		if got["leat_streaming_completed_batches_total"] < 10 || got[`leat_scheduler_jobs_total{result="succeeded"}`] == 0 || got["leat_streaming_received_records_total"] != 2 {
			t.Errorf("the streams are not told of: %v", got)
		}
		for name := range other {
			if strings.HasPrefix(name, "leat_streaming_") {
				t.Errorf("%s is told of a node without Progress", name)
			}
		}
		b.stop()
		if err := errors.Join(<-b.ended, b.Close()); err != nil {
			t.Error(err)
		}
		// Alone of two it decides nothing, and it is told how old the last batch is.
		time.Sleep(10 * time.Second)
		got = series(t, a)
		if age := got["leat_cluster_last_committed_batch_age_seconds"]; got["leat_cluster_ready"] != 0 || got["leat_cluster_leader"] != 0 || age < 9 || age > 12 {
			t.Errorf("without a majority: ready %v, leader %v, last batch %v s ago", got["leat_cluster_ready"], got["leat_cluster_leader"], age)
		}
		if got["leat_streaming_running_batches"] > 1 {
			t.Errorf("%v batches run", got["leat_streaming_running_batches"])
		}
		a.stop()
		<-a.ended
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		says(a, map[string]float64{"healthy": 0, `driver_role{role="idle"}`: 1})
	})
}

// The first entry of a leader says nothing, and is not one that waits to be applied.
func TestNothingWaitsToBeAppliedAfterAnElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for range 2 {
			n, err := cluster.Open(dir, cluster.Options{})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if d := n.Measures(); !d.Leads || d.Committed < 3 || d.Applied != d.Committed || d.ApplyLag != 0 {
				t.Errorf("leads %t, %d of %d are applied, for %v", d.Leads, d.Applied, d.Committed, d.ApplyLag)
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Two handlers of two nodes in one process do not meet in a registry.
func TestEachNodeHasARegistry(t *testing.T) {
	for range 2 {
		n, err := cluster.Open(t.TempDir(), cluster.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n.Handler()
		n.Handler()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

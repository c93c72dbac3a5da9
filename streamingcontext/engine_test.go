package streamingcontext_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
)

// Options of the cluster and the scheduler reach them through the engine's.
func TestEngineOptionsReachClusterAndScheduler(t *testing.T) {
	var started, spilled, pool atomic.Int64
	listen := scheduler.Listener{
		JobStarted: func(e scheduler.JobStarted) {
			started.Add(1)
			if e.Properties.Pool == "reports" {
				pool.Add(1)
			}
		},
		TaskEnded: func(e scheduler.TaskEnded) { spilled.Add(e.Metrics.SpilledBytes) },
	}
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{
		Cores: 2, Memory: 1 << 20, Dir: t.TempDir(), SchedulerListeners: []scheduler.Listener{listen},
		Scheduling: scheduler.Options{Mode: scheduler.FAIR, Pools: []scheduler.Pool{{Name: "reports", Weight: 2}},
			Listeners: []scheduler.Listener{listen}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const n = 200_000
	pairs := rdd.Map(rdd.Range(engine.RDDs(), 0, n, 1, 2), func(i int64) rdd.Pair[int64, int64] {
		return rdd.Pair[int64, int64]{Key: i % (n / 2), Value: i}
	})
	groups, err := rdd.GroupByKey(pairs).Count(rdd.WithPool(context.Background(), "reports"))
	if err != nil || groups != n/2 {
		t.Errorf("%d groups, %v", groups, err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	if started.Load() != 2 || pool.Load() != 2 || spilled.Load() == 0 {
		t.Errorf("two listeners: %d jobs, %d in the pool, %d bytes spilled", started.Load(), pool.Load(), spilled.Load())
	}
}

func TestEngineOptionsAreChecked(t *testing.T) {
	for want, opts := range map[string]streamingcontext.EngineOptions{
		"Memory is negative":      {Memory: -1},
		"MaxFailures is negative": {Scheduling: scheduler.Options{MaxFailures: -1}},
	} {
		if _, err := streamingcontext.NewEngine(opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

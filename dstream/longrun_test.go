package dstream_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

// usage is what a graph that runs for long must not grow in.
type usage struct {
	heap, goroutines, outputs, persisted, remembered, nodes int
}

func (a usage) max(b usage) usage {
	return usage{max(a.heap, b.heap), max(a.goroutines, b.goroutines), max(a.outputs, b.outputs),
		max(a.persisted, b.persisted), max(a.remembered, b.remembered), max(a.nodes, b.nodes)}
}

// TestLongRun runs windows and state for many batches; the last tenth must need no more than the
// second.
func TestLongRun(t *testing.T) {
	const batches = 5000
	d := newDriver(t, setup{parallelism: 2, interval: 100 * time.Millisecond})
	in := dstream.NewInput(d.graph, "generated", "Generated stream", generated{})
	sums := dstream.UpdateStateByKey(in, func(values []int, old rdd.Option[int]) rdd.Option[int] {
		old.Value, old.OK = old.Value+len(values), true
		return old
	}, dstream.TouchedOnly())
	all := dstream.UpdateStateByKey(in, idleOrGone)
	windowed := dstream.ReduceByKeyAndWindow(in, add, subtract, time.Second, 0)
	paned := dstream.ReduceByKeyAndWindow(in, largest, nil, 1700*time.Millisecond, 300*time.Millisecond)
	plain := dstream.Count(dstream.Window(in, 500*time.Millisecond, 0))
	nodes := 0
	walk := func(n lineage.Node) {
		lineage.Walk(n, func(lineage.Node) bool { nodes++; return true })
	}
	held := func() (n int) {
		for _, times := range [][]dstream.Time{in.Remembered(), sums.Remembered(), all.Remembered(),
			windowed.Remembered(), paned.Remembered(), plain.Remembered()} {
			n += len(times)
		}
		return n
	}
	for _, s := range []*dstream.DStream[rdd.Pair[int, int]]{sums, all, windowed, paned} {
		dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[rdd.Pair[int, int]], _ dstream.Time) error {
			walk(r.Node())
			_, err := r.Count(ctx)
			return err
		})
	}
	dstream.ForeachRDD(plain, func(ctx context.Context, r *rdd.RDD[int64], _ dstream.Time) error {
		_, err := r.Collect(ctx)
		return err
	})
	d.start()
	var tenths [10]usage
	for k := range batches {
		nodes = 0
		d.steps(1)
		u := usage{goroutines: runtime.NumGoroutine(), remembered: held(), nodes: nodes}
		if k%50 == 49 {
			settle(d)
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			u.heap = int(m.HeapAlloc)
			u.outputs, u.persisted = d.cluster.Blocks()
		}
		tenths[k*10/batches] = tenths[k*10/batches].max(u)
	}
	// The first tenth fills the longest retention, so the second is the first to compare with.
	early, late := tenths[1], tenths[9]
	t.Logf("tenths: %+v", tenths)
	for name, n := range map[string][2]int{
		"goroutines": {early.goroutines, late.goroutines}, "map outputs": {early.outputs, late.outputs},
		"persisted partitions": {early.persisted, late.persisted}, "remembered batches": {early.remembered, late.remembered},
		"nodes in the lineage": {early.nodes, late.nodes}, "bytes of heap": {early.heap, late.heap},
	} {
		if float64(n[1]) > 1.1*float64(n[0])+2 {
			t.Errorf("%s: %d early, %d late", name, n[0], n[1])
		}
	}
	if early.persisted == 0 || early.remembered == 0 || early.nodes == 0 {
		t.Errorf("nothing was measured: %+v", early)
	}
}

// idleOrGone is a state that goes once its key has had no values for three batches.
func idleOrGone(values []int, old rdd.Option[int]) rdd.Option[int] {
	if len(values) > 0 {
		return rdd.Option[int]{OK: true}
	}
	return rdd.Option[int]{Value: old.Value + 1, OK: old.Value < 3}
}

// generated gives each batch a few pairs of a hundred keys.
type generated struct{}

func (generated) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[rdd.Pair[int, int]], error) {
	rows := make([]rdd.Pair[int, int], 20)
	for i := range rows {
		rows[i] = rdd.Pair[int, int]{Key: (int(t)/100*7 + i*13) % 100, Value: int(t) / 100 % 17}
	}
	r := rdd.Parallelize(c, rows, 2)
	return r, r.Err()
}

func (generated) Report(t dstream.Time) (int64, string, bool) { return 20, fmt.Sprint(t), true }

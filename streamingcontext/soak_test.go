package streamingcontext_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
)

// TestManyBatchesLeaveNothingBehind runs 20,000 batches of a stream, a window over it and a receiver,
// and demands that heap, goroutines and blocks on executors are what they were after the first 2,000.
func TestManyBatchesLeaveNothingBehind(t *testing.T) {
	h := newHanded()
	ssc, clock, done := counting(t, func(ssc *streamingcontext.Context) *dstream.DStream[int] {
		in := streamingcontext.Receive[int](ssc, h)
		discard(dstream.Window(in, 3*time.Second, time.Second))
		return in
	}, streamingcontext.Options{EngineOptions: streamingcontext.EngineOptions{Cores: 2}})
	type footprint struct {
		heap, goroutines, outputs, persisted int
	}
	run := func(batches int) footprint {
		for i := range batches {
			if i%10 == 0 {
				h.store(t, i, i+1)
			}
			clock.Advance(1000)
			<-done
		}
		// Forgetting reaches the executors behind the job that comes after it.
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		outputs, persisted := ssc.Engine().Cluster().Blocks()
		return footprint{int(m.HeapAlloc), runtime.NumGoroutine(), outputs, persisted}
	}
	first, last := run(2000), run(18000)
	t.Logf("after 2,000 batches %+v, after 20,000 %+v", first, last)
	if last.heap > first.heap+1<<20 {
		t.Errorf("heap grew from %d to %d bytes", first.heap, last.heap)
	}
	if last.goroutines > first.goroutines {
		t.Errorf("goroutines grew from %d to %d", first.goroutines, last.goroutines)
	}
	if last.outputs > first.outputs+8 || last.persisted > first.persisted+8 {
		t.Errorf("blocks on executors grew from %d and %d to %d and %d", first.outputs, first.persisted, last.outputs, last.persisted)
	}
	if ssc.State() != streamingcontext.Active {
		t.Errorf("state %v", ssc.State())
	}
}

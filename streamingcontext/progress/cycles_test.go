package progress_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// Programs that come and go on one engine, each watched, leave nothing behind.
func TestStoresThatAreDetachedAreLetGoOf_U03(t *testing.T) {
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{Cores: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	cycle := func() {
		clock := &streamingcontext.ManualClock{}
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Engine: engine, Clock: clock})
		store := progress.New(progress.Options{})
		detach := store.Attach(ssc)
		dstream.ForeachRDD(streamingcontext.Slices(ssc, [][]int{{1}}, 1), count)
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		clock.Advance(1000)
		if err := ssc.Settled(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
		stop(t, ssc)
		detach()
		if n := store.Snapshot().CompletedBatches; n != 1 {
			t.Fatalf("%d batches", n)
		}
	}
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for range 200 {
		cycle()
	}
	before := heap()
	for range 800 {
		cycle()
	}
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("%d bytes more after 800 cycles", grown)
	}
}

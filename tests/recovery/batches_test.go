package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

func textTo(root string) sink.Sink[string] { return files.Text(filepath.Join(root, "out")) }

// A footprint is what a program takes up.
type footprint struct {
	log, folder                          int64 // bytes
	names, heap, goroutines, descriptors int
}

func (f footprint) String() string {
	return fmt.Sprintf("log %d KiB, folder %d KiB in %d files, heap %d KiB, %d goroutines, %d descriptors",
		f.log>>10, f.folder>>10, f.names, f.heap>>10, f.goroutines, f.descriptors)
}

func footprintOf(t *testing.T, dir string) (f footprint) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			f.names++
			f.folder += info.Size()
			if d.Name() == "driver.db" {
				f.log = info.Size()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC() // what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.heap, f.goroutines = int(m.HeapAlloc), runtime.NumGoroutine()
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil { // elsewhere there is nothing to count
		f.descriptors = len(entries)
	}
	return f
}

// Log, folder, heap, goroutines and descriptors do not grow with the number of batches.
func TestManyBatches_D8(t *testing.T) {
	dir, clock := t.TempDir(), new(streamingcontext.ManualClock)
	ssc, err := streamingcontext.GetOrCreate(dir, streamingcontext.Options{
		Interval: time.Second, Clock: clock, StopTimeout: -1, EngineOptions: streamingcontext.EngineOptions{Cores: 1},
	}, func(ssc *streamingcontext.Context) error {
		in := dstream.NewInput(ssc.Graph(), "numbers", "Numbers", dstream.Input[int](numbers{}))
		pairs := dstream.Map(in, func(n int) rdd.Pair[int, int] { return rdd.Pair[int, int]{Key: n % 10, Value: n} })
		totals := dstream.UpdateStateByKey(pairs, func(n []int, old rdd.Option[int]) rdd.Option[int] {
			return rdd.Option[int]{Value: old.Value + len(n), OK: true}
		})
		if err := totals.Checkpoint(5 * time.Second); err != nil {
			return err
		}
		dstream.ForeachRDD(totals, func(ctx context.Context, r *rdd.RDD[rdd.Pair[int, int]], _ dstream.Time) error {
			_, err := r.Count(ctx)
			return err
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{}); err != nil {
			t.Error(err)
		}
	}()
	all, early := int64(*manyBatches), int64(*manyBatches/4)
	var first footprint
	for n := int64(1); n <= all; n++ {
		clock.Set(n * 1000)
		if err := ssc.Settled(t.Context(), dstream.Time(n*1000)); err != nil {
			t.Fatal(err)
		}
		if n != early && (n < early || n%(all/4) != 0) {
			continue
		}
		now := footprintOf(t, dir)
		t.Logf("batch %d: %v", n, now)
		if n == early {
			first = now
			continue
		}
		if now.log > first.log+first.log/2 || now.folder > 2*first.folder || now.names > first.names+8 ||
			now.heap > first.heap+first.heap/4+1<<20 || now.goroutines > first.goroutines+2 || now.descriptors > first.descriptors+2 {
			t.Errorf("it grows: batch %d has %v", n, now)
		}
	}
}

// numbers is an input that gives the same for the same batch.
type numbers struct{}

func (numbers) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[int], error) {
	return rdd.Parallelize(c, []int{int(t) / 1000, 1, 2, 3}, 2), nil
}

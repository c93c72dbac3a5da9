package hostile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// A rig is a cluster with its scheduler and a context on it, for tests that need more to say about them than an
// engine asks.
type rig struct {
	*rdd.Context
	cluster   *local.Cluster
	scheduler *scheduler.Scheduler
	dir       string // of the cluster's files
}

// rigOptions are what a rig is made with. Two slots, and a folder of the test, where they say nothing.
type rigOptions struct {
	local.Options
	Scheduler scheduler.Options
	RDD       rdd.Options
}

// newRig returns a rig that is closed with the test; nothing of it may be left in its folder then.
func newRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	if o.Slots == 0 {
		o.Slots = 2
	}
	shared := o.Dir != ""
	if !shared {
		o.Dir = t.TempDir()
	}
	o.ErrorCodecs = []scheduler.ErrorCodec{scheduler.ErrorCodec(rdd.NewErrorCodec())}
	r := &rig{cluster: local.New(o.Options), dir: o.Dir}
	r.scheduler = scheduler.New(r.cluster, o.Scheduler)
	var err error
	if r.Context, err = rdd.NewContext(r.scheduler, o.RDD); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = within(t, "close of the scheduler", r.scheduler.Close)
		if shared {
			return
		}
		if left, _ := filepath.Glob(filepath.Join(o.Dir, "*")); len(left) > 0 {
			t.Errorf("files left: %v", left)
		}
	})
	return r
}

// small is a memory budget under which all that holds records spills.
const small = 1 << 20

// rigs runs a test on a roomy cluster and on one that spills, in one process and as between processes.
func rigs(t *testing.T, f func(t *testing.T, r *rig)) {
	for _, memory := range []int64{0, small} {
		for _, isolate := range []bool{false, true} {
			t.Run(fmt.Sprintf("memory=%d,isolate=%t", memory, isolate), func(t *testing.T) {
				f(t, newRig(t, rigOptions{Options: local.Options{Executors: 2, Memory: memory, Isolate: isolate}}))
			})
		}
	}
}

// works fails the test unless the cluster still runs a job with a shuffle.
func (r *rig) works(t *testing.T) {
	t.Helper()
	err := within(t, "job afterwards", func() error {
		n, err := rdd.ReduceByKey(rdd.Parallelize(r.Context, pairs(100, 7), 4), plus).Count(t.Context())
		if err == nil && n != 7 {
			err = fmt.Errorf("%d keys, want 7", n)
		}
		return err
	})
	if err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// settles waits until the condition holds, with a garbage collection before each look: what nobody reaches goes some time
// after one.
func settles(t *testing.T, what func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		runtime.GC()
		left := what()
		if left == "" {
			return
		}
		if ctx.Err() != nil {
			t.Errorf("it stays so: %s", left)
			return
		}
		runtime.Gosched()
	}
}

// released waits until no task has memory or files, beside those of blocks that are kept.
func (r *rig) released(t *testing.T) {
	t.Helper()
	settles(t, func() string {
		reserved, _ := r.cluster.Memory()
		for _, f := range r.cluster.Files() {
			if m, _ := filepath.Match("*.tmp", filepath.Base(f)); m {
				return "file " + f
			}
		}
		if reserved != 0 {
			return fmt.Sprintf("%d bytes are reserved", reserved)
		}
		return ""
	})
}

// emptied waits until nothing is kept of anything.
func (r *rig) emptied(t *testing.T) {
	t.Helper()
	settles(t, func() string {
		r.Sweep() // no action follows that would do so
		outputs, kept := r.cluster.Blocks()
		reserved, stored := r.cluster.Memory()
		files := r.cluster.Files()
		if outputs+kept+len(files) > 0 || reserved != 0 || stored != 0 {
			return fmt.Sprintf("%d outputs, %d kept, %d bytes reserved, %d stored, files %v", outputs, kept, reserved, stored, files)
		}
		return ""
	})
}

// entries are the names in a folder.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// timeout is so long that nothing here takes as long.
const timeout = time.Minute

package hostile

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// TestTenThousandJobs runs jobs of every kind under one context and looks at what they leave, at the 2,000th and at
// the end (B6).
func TestTenThousandJobs(t *testing.T) {
	r := newRig(t, rigOptions{Options: local.Options{Memory: 192 << 10}, Scheduler: scheduler.Options{Mode: scheduler.FAIR}})
	rows := make([]rdd.Pair[int, string], 40)
	for i := range rows {
		rows[i] = rdd.Pair[int, string]{Key: i % 7, Value: fmt.Sprintf("%01000d", i)}
	}
	source := rdd.Parallelize(r.Context, rows, 2)
	run := func(n int) error {
		ctx := rdd.WithTags(rdd.WithJobGroup(rdd.WithPool(t.Context(), fmt.Sprintf("pool %d", n)), fmt.Sprintf("group %d", n), ""), fmt.Sprintf("tag %d", n))
		if n%2 == 0 {
			got, err := rdd.Map(source, func(p rdd.Pair[int, string]) int { return p.Key }).Filter(func(k int) bool { return k < n }).Count(ctx)
			if err == nil && got > 40 {
				err = fmt.Errorf("%d records", got)
			}
			return err
		}
		groups := rdd.GroupByKey(source)
		switch n % 10 {
		case 1:
			if err := groups.Persist(rdd.MemoryAndDisk()); err != nil {
				return err
			}
			if n%20 == 1 {
				defer groups.Unpersist() // by hand, or left to the collector
			}
		case 3:
			b, err := rdd.NewBroadcast(r.Context, rows[:n%7+1])
			if err != nil {
				return err
			}
			groups = rdd.FilterWith(groups, func(ctx context.Context, _ int) (func(rdd.Pair[int, []string]) bool, error) {
				v, err := b.Value(ctx)
				return func(rdd.Pair[int, []string]) bool { return len(v) == n%7+1 }, err
			})
		case 5:
			total, err := rdd.NewLongAccumulator(r.Context, fmt.Sprintf("total %d", n))
			if err != nil {
				return err
			}
			groups = rdd.FilterWith(groups, func(ctx context.Context, _ int) (func(rdd.Pair[int, []string]) bool, error) {
				l, err := total.Local(ctx)
				return func(p rdd.Pair[int, []string]) bool { l.Add(int64(len(p.Value))); return true }, err
			})
			defer func() {
				if v, err := total.Value(t.Context()); err != nil || v.Sum != 40 {
					t.Errorf("job %d: accumulator %+v, %v", n, v, err)
				}
			}()
		case 7:
			cause := rdd.TryMap(groups, func(p rdd.Pair[int, []string]) (int, error) { return 0, fmt.Errorf("boom %d", n) })
			if _, err := cause.Count(ctx); err == nil {
				return fmt.Errorf("no error")
			}
		}
		got, err := groups.Count(ctx)
		if err == nil && got != 7 {
			err = fmt.Errorf("%d keys, want 7", got)
		}
		return err
	}
	type state struct {
		heap       uint64
		goroutines int
	}
	var early state
	look := func() state {
		r.emptied(t)
		return state{heap(), runtime.NumGoroutine()}
	}
	for n := 1; n <= 10_000; n++ {
		if err := run(n); err != nil {
			t.Fatalf("job %d: %v", n, err)
		}
		if n == 2000 {
			early = look()
		}
	}
	late := look()
	if late.heap > early.heap+1<<20 {
		t.Errorf("heap %d bytes after 10,000 jobs, %d after 2,000", late.heap, early.heap)
	}
	if late.goroutines > early.goroutines+2 {
		t.Errorf("%d goroutines, %d before", late.goroutines, early.goroutines)
	}
	if names := entries(t, r.dir); len(names) > 1 {
		t.Errorf("folders %v, want that of the cluster", names)
	}
	// Numbers of a few shuffles in between, all of them forgotten by the scheduler.
	for dep := range int32(2) {
		for ordinal := int32(1); ordinal < 200; ordinal++ {
			id := source.ID()
			id.Ordinal = ordinal
			if have, maps := r.scheduler.Written(shuffleOf(id, dep)); maps != 0 {
				t.Fatalf("shuffle %v: %d of %d outputs are registered", id, have, maps)
			}
			if kept := r.scheduler.Kept(id); len(kept) > 0 {
				t.Fatalf("node %v: %v is kept", id, kept)
			}
		}
	}
	runtime.KeepAlive(source)
}

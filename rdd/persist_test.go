package rdd

import (
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/lineage"
)

func TestPersist(t *testing.T) {
	for _, level := range []StorageLevel{MemoryOnly(), MemoryOnlySer()} {
		t.Run(level.String(), func(t *testing.T) {
			onRunners(t, Options{}, func(t *testing.T, c *Context) {
				var calls atomic.Int64
				r := Map(Parallelize(c, upTo(6), 3), func(x int) int { calls.Add(1); return 10 * x })
				if err := r.Persist(level); err != nil {
					t.Fatal(err)
				}
				want := []int{10, 20, 30, 40, 50, 60}
				same(t, "first", collect(t, r), want)
				n := calls.Load()
				same(t, "again", collect(t, r), want)
				same(t, "derived", collect(t, r.Filter(func(x int) bool { return x > 20 })), want[2:])
				if calls.Load() != n {
					t.Errorf("%d calls after the first job, want %d: it is computed again", calls.Load(), n)
				}
				r.Unpersist()
				same(t, "after Unpersist", collect(t, r), want)
				if calls.Load() != n+6 {
					t.Errorf("%d calls after Unpersist, want %d", calls.Load(), n+6)
				}
			})
		})
	}
	t.Run("S2 levels", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		r := Parallelize(c, upTo(2), 1)
		if got := r.Level().String(); got != "NONE" {
			t.Errorf("level %s, want NONE", got)
		}
		wantErr(t, "level NONE", r.Persist(StorageLevel{Deserialized: true}), ErrArgument)
		if err := r.Cache().Persist(MemoryOnly()); err != nil || r.Level() != MemoryOnly() {
			t.Errorf("the same level: %v", err)
		}
		wantErr(t, "another level", r.Persist(MemoryOnlySer()), ErrLevelChange)
		r.Unpersist()
		r.Unpersist()
		if err := r.Persist(MemoryOnlySer()); err != nil || r.Cache().Level() != MemoryOnlySer() {
			t.Errorf("after Unpersist: %v, level %s", err, r.Level())
		}
	})
}

// Take computes of a persisted partition all there is: what is kept is whole.
func TestPersistIsWhole(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Range(c, 0, 10_000, 1, 1).Cache()
		same(t, "take", must(r.Take(t.Context(), 2)), []int64{0, 1})
		if n := must(r.Count(t.Context())); n != 10_000 {
			t.Errorf("count %d after Take, want 10000", n)
		}
	})
}

func TestForget(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		scope := lineage.Scope{Batch: 1000, Stream: 2}
		view := c.In(scope, "counts at main.go:7", 0)
		var calls atomic.Int64
		r := Map(Parallelize(view, upTo(4), 2), func(x int) Pair[int, int] { calls.Add(1); return kv(x%2, x) })
		sums := ReduceByKey(r, add[int], NumPartitions(1)).Cache()
		if id := r.Node().ID(); id != (lineage.NodeID{Scope: scope, Ordinal: 2}) || r.Site() != "counts at main.go:7" {
			t.Errorf("node %s at %s", id, r.Site())
		}
		want := []Pair[int, int]{kv(1, 4), kv(0, 6)}
		for range 2 {
			same(t, "sums", collect(t, sums), want)
		}
		if n := calls.Load(); n != 4 {
			t.Errorf("%d calls, want 4", n)
		}
		c.Forget(scope)
		same(t, "forgotten", collect(t, sums), want)
		if n := calls.Load(); n != 8 {
			t.Errorf("%d calls after Forget, want 8", n)
		}
	})
}

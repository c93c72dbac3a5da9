package hostile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/local"
)

func shuffleOf(id lineage.NodeID, dep int32) lineage.ShuffleID {
	return lineage.ShuffleID{Node: id, Dep: dep}
}

// fat are rows that fill a small cluster.
func fat(c *rdd.Context, n int) *rdd.RDD[rdd.Pair[int, string]] {
	return rdd.Map(rdd.Range(c, 0, int64(n), 1, 4), func(i int64) rdd.Pair[int, string] {
		return rdd.Pair[int, string]{Key: int(i) % 97, Value: fmt.Sprintf("%0512d", i)}
	})
}

// TestTwoClustersInOneFolder has clusters whose nodes have the same numbers and whose files lie side by side (B6).
func TestTwoClustersInOneFolder(t *testing.T) {
	dir := t.TempDir()
	o := rigOptions{Options: local.Options{Memory: small, Dir: dir}}
	a, b := newRig(t, o), newRig(t, o)
	ra, rb := rdd.GroupByKey(fat(a.Context, 8000)), rdd.GroupByKey(fat(b.Context, 16000))
	for _, r := range []*rdd.RDD[rdd.Pair[int, []string]]{ra, rb} {
		if err := r.Persist(rdd.MemoryAndDisk()); err != nil {
			t.Fatal(err)
		}
	}
	if ra.ID() != rb.ID() {
		t.Fatalf("%v and %v: the test wants nodes of the same number", ra.ID(), rb.ID())
	}
	size := func(r *rdd.RDD[rdd.Pair[int, []string]], want int) {
		t.Helper()
		n, err := rdd.Aggregate(t.Context(), r, 0, func(n int, p rdd.Pair[int, []string]) int { return n + len(p.Value) }, plus)
		if err != nil || n != want {
			t.Errorf("%d values, %v; want %d", n, err, want)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { size(ra, 8000) })
	wg.Go(func() { size(rb, 16000) })
	_ = within(t, "jobs", func() error { wg.Wait(); return nil })
	fa, fb := a.cluster.Files(), b.cluster.Files()
	if len(fa) == 0 || len(fb) == 0 {
		t.Fatalf("files %v and %v: the test wants some of both", fa, fb)
	}
	for _, f := range fa {
		if slices.Contains(fb, f) {
			t.Errorf("file %s is of both", f)
		}
	}
	ra.Unpersist()
	ra.CleanShuffleDependencies()
	a.emptied(t)
	if now := b.cluster.Files(); !slices.Equal(now, fb) {
		t.Errorf("files of the other: %v, before %v", now, fb)
	}
	size(rb, 16000)
	if err := within(t, "close", a.scheduler.Close); err != nil {
		t.Error(err)
	}
	if names := entries(t, dir); len(names) != 1 {
		t.Errorf("folders %v, want that of the one that is open", names)
	}
	size(rb, 16000)
	// A third one cleans the folder when it starts; it must leave the second's alone.
	c := newRig(t, o)
	c.works(t)
	size(rb, 16000)
	b.works(t)
	for _, f := range fb {
		if _, err := os.Stat(f); err != nil {
			t.Errorf("file of the open cluster: %v", err)
		}
	}
	_, _ = b.scheduler.Close(), c.scheduler.Close()
	if names := entries(t, dir); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

func TestClustersThatComeAndGoInOneFolder(t *testing.T) {
	dir := t.TempDir()
	err := within(t, "clusters", func() error {
		var wg sync.WaitGroup
		errs := make(chan error, 100)
		for range 4 {
			wg.Go(func() {
				for range 8 {
					r := newRig(t, rigOptions{Options: local.Options{Memory: 64 << 10, Dir: dir}})
					n, err := rdd.GroupByKey(fat(r.Context, 2000)).Count(context.Background())
					if err == nil && n != 97 {
						err = fmt.Errorf("%d keys", n)
					}
					errs <- errors.Join(err, r.scheduler.Close())
				}
			})
		}
		wg.Wait()
		close(errs)
		var all error
		for err := range errs {
			all = errors.Join(all, err)
		}
		return all
	})
	if err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestRDDsOfTwoContexts gives every operator of several inputs one of another context (B6).
func TestRDDsOfTwoContexts(t *testing.T) {
	a, b := newRig(t, rigOptions{}), newRig(t, rigOptions{})
	x, y := rdd.Parallelize(a.Context, pairs(10, 2), 2), rdd.Parallelize(b.Context, pairs(10, 2), 2)
	type pair = rdd.Pair[int, int]
	count := func(n func(context.Context) (int64, error)) func() error {
		return func() error { _, err := n(t.Context()); return err }
	}
	two := func(rdd.Rows[pair], rdd.Rows[pair]) {}
	for name, run := range map[string]func() error{
		"union":                count(x.Union(y).Count),
		"unionAll":             count(rdd.UnionAll(a.Context, x, y).Count),
		"unionAll elsewhere":   count(rdd.UnionAll(a.Context, y).Count),
		"join":                 count(rdd.Join(x, y).Count),
		"leftOuterJoin":        count(rdd.LeftOuterJoin(x, y).Count),
		"fullOuterJoin":        count(rdd.FullOuterJoin(x, y).Count),
		"cogroup":              count(rdd.CoGroup(x, y).Count),
		"cogroup3":             count(rdd.CoGroup3(x, x, y).Count),
		"cogroup4":             count(rdd.CoGroup4(x, x, x, y).Count),
		"cogroupAll":           count(rdd.CoGroupAll(a.Context, []*rdd.RDD[pair]{x, y}).Count),
		"cogroupAll elsewhere": count(rdd.CoGroupAll(a.Context, []*rdd.RDD[pair]{y, y}).Count),
		"subtract":             count(rdd.Subtract(x, y).Count),
		"subtractByKey":        count(rdd.SubtractByKey(x, y).Count),
		"intersection":         count(rdd.Intersection(x, y).Count),
		"cartesian":            count(rdd.Cartesian(x, y).Count),
		"zip":                  count(rdd.Zip(x, y).Count),
		"zipRows": count(rdd.ZipRows(a.Context, "mine", x, y, nil, func(_ int, p, q rdd.Rows[pair], _ func([]int) error) error {
			two(p, q)
			return nil
		}).Count),
	} {
		t.Run(name, func(t *testing.T) {
			err := within(t, name, run)
			if !errors.Is(err, rdd.ErrDifferentContexts) {
				t.Errorf("error %v", err)
			}
			wantPlace(t, err)
		})
	}
	v, err := rdd.NewBroadcast(b.Context, 1)
	if err != nil {
		t.Fatal(err)
	}
	acc, err := rdd.NewLongAccumulator(b.Context, "other")
	if err != nil {
		t.Fatal(err)
	}
	for name, use := range map[string]func(ctx context.Context) error{
		"broadcast":         func(ctx context.Context) error { _, err := v.Value(ctx); return err },
		"accumulator":       func(ctx context.Context) error { return acc.Add(ctx, 1) },
		"accumulator local": func(ctx context.Context) error { _, err := acc.Local(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rdd.MapWith(x, func(ctx context.Context, _ int) (func(pair) int, error) {
				return func(pair) int { return 0 }, use(ctx)
			}).Count(t.Context())
			if !errors.Is(err, rdd.ErrDifferentContexts) {
				t.Errorf("error %v", err)
			}
			wantPlace(t, err)
		})
	}
	if n, err := x.Count(t.Context()); n != 10 || err != nil {
		t.Error(n, err)
	}
	if got, err := acc.Value(t.Context()); got.Count != 0 || err != nil {
		t.Errorf("accumulator of the other context: %+v, %v", got, err)
	}
}

package hostile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// TestFunctionsThatKeepAndChangeUnderSpilling has functions change their first argument, keep both, and change their
// input, with and without memory: the answers are the same (G10).
func TestFunctionsThatKeepAndChangeUnderSpilling(t *testing.T) {
	var want []string
	rigs(t, func(t *testing.T, r *rig) {
		var mu sync.Mutex
		var kept [][]int // what functions were given, which they must not find changed
		rows := rdd.Map(rdd.Range(r.Context, 0, 30_000, 1, 3), func(i int64) rdd.Pair[string, []int] {
			return rdd.Pair[string, []int]{Key: fmt.Sprintf("%050d", i%2003), Value: []int{int(i), int(i) + 1}}
		})
		keep := func(xs []int) {
			if xs[0]%997 == 0 {
				mu.Lock()
				kept = append(kept, xs)
				mu.Unlock()
			}
		}
		seq := func(b, xs []int) []int { keep(xs); b = append(b, xs...); b[0] = len(b); return b }
		comb := func(a, b []int) []int { return append(a, b...) }
		answers := map[string]func() (any, error){
			"aggregate": func() (any, error) {
				return rdd.AggregateByKey(rows, []int{7}, seq, comb).Collect(t.Context())
			},
			"reduce": func() (any, error) {
				return rdd.ReduceByKey(rows, func(a, b []int) []int { a[0] += b[0]; return append(a, b[1]) }).Collect(t.Context())
			},
			"group, then spoil": func() (any, error) {
				groups := rdd.GroupByKey(rows).Cache()
				spoil := rdd.MapValues(groups, func(xs [][]int) int { n := xs[0][0]; xs[0][0] = -1; xs[0] = nil; return n + len(xs) })
				first, err := spoil.Collect(t.Context())
				if err != nil {
					return nil, err
				}
				again, err := spoil.Collect(t.Context())
				if !slices.Equal(first, again) {
					return nil, errors.Join(err, errors.New("the kept partitions have changed"))
				}
				return again, err
			},
			"sort, then spoil": func() (any, error) {
				s, err := rdd.SortByKey(t.Context(), rows)
				if err != nil {
					return nil, err
				}
				s = s.Cache()
				spoil := rdd.Map(s, func(p rdd.Pair[string, []int]) int { x := p.Value[1]; p.Value[1] = 0; return x })
				first, err := spoil.Collect(t.Context())
				if err != nil {
					return nil, err
				}
				again, err := spoil.Collect(t.Context())
				if !slices.Equal(first, again) {
					return nil, errors.Join(err, errors.New("the kept partitions have changed"))
				}
				return again, err
			},
		}
		var got []string
		for _, name := range []string{"aggregate", "reduce", "group, then spoil", "sort, then spoil"} {
			a, err := answers[name]()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got = append(got, fmt.Sprint(a))
		}
		if want == nil {
			want = got
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("answer %d differs from that of the roomy cluster in one process", i)
			}
		}
		for _, xs := range kept {
			if xs[1] != xs[0]+1 || xs[0]%997 != 0 {
				t.Errorf("a value that a function kept has become %v", xs)
			}
		}
		r.released(t)
	})
}

// hungry are jobs that hold and write much, each with a point at which tick is called again and again.
func hungry(ctx context.Context, r *rig, dir string, tick func()) map[string]func() error {
	rows := rdd.Map(fat(r.Context, 8000), func(p rdd.Pair[int, string]) rdd.Pair[int, string] { tick(); return p })
	wide := rdd.Map(rows, func(p rdd.Pair[int, string]) rdd.Pair[string, int] {
		return rdd.Pair[string, int]{Key: p.Value, Value: 1}
	})
	// More ticks on the way out of what has spilled.
	out := func(n func(context.Context) (int64, error)) func() error {
		return func() error { _, err := n(ctx); return err }
	}
	return map[string]func() error{
		"fold":     out(rdd.MapValues(rdd.ReduceByKey(wide, plus), func(n int) int { tick(); return n }).Count),
		"group":    out(rdd.MapValues(rdd.GroupByKey(rows), func(xs []string) int { tick(); return len(xs) }).Count),
		"distinct": out(rdd.Map(rdd.Distinct(rdd.Values(rows)), func(s string) int { tick(); return len(s) }).Count),
		"deal":     out(rdd.Map(rows.Repartition(5), func(p rdd.Pair[int, string]) int { tick(); return p.Key }).Count),
		"sort": func() error {
			s, err := rdd.SortBy(ctx, rows, func(p rdd.Pair[int, string]) string { return p.Value })
			if err == nil {
				_, err = rdd.Map(s, func(p rdd.Pair[int, string]) int { tick(); return p.Key }).Count(ctx)
			}
			return err
		},
		"persist": func() error {
			kept := rdd.GroupByKey(rows)
			if err := kept.Persist(rdd.Replicated(rdd.MemoryAndDisk(), 2)); err != nil {
				return err
			}
			_, err := kept.Count(ctx)
			kept.Unpersist()
			kept.CleanShuffleDependencies()
			return err
		},
		"local checkpoint": func() error {
			kept := rdd.Map(rows, func(p rdd.Pair[int, string]) string { return p.Value })
			if err := kept.LocalCheckpoint(); err != nil {
				return err
			}
			_, err := kept.Count(ctx)
			kept.Unpersist()
			return err
		},
		"save": func() error {
			return rdd.Values(rows).SaveAsTextFile(ctx, filepath.Join(dir, "out"), rdd.Compress(rdd.Zstd))
		},
		"object file": func() error { return rows.SaveAsObjectFile(ctx, filepath.Join(dir, "out")) },
	}
}

var hungryNames = []string{"fold", "group", "distinct", "deal", "sort", "persist", "local checkpoint", "save", "object file"}

// TestCancellingAtAnyMoment cancels jobs that spill, keep and save at moments spread over their run: nothing of them stays (D30).
func TestCancellingAtAnyMoment(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		r := newRig(t, rigOptions{Options: local.Options{Executors: 2, Memory: small, Isolate: isolate}})
		for _, name := range hungryNames {
			for at := int64(1); at < 40_000; at = at*7 + 500 {
				t.Run(fmt.Sprintf("isolate=%t/%s/%d", isolate, name, at), func(t *testing.T) {
					dir := t.TempDir()
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if at%2 == 0 {
						ctx = rdd.WithJobGroup(ctx, "doomed", "")
					}
					var ticks atomic.Int64
					err := within(t, name, hungry(ctx, r, dir, func() {
						if ticks.Add(1) != at {
							return
						}
						if at%2 == 0 {
							r.scheduler.CancelGroup("doomed", false)
						} else {
							cancel()
						}
					})[name])
					if err != nil && !errors.Is(err, scheduler.ErrCanceled) {
						t.Errorf("error %v", err)
					}
					if err != nil {
						wantPlace(t, err)
						if left := entries(t, dir); name != "save" && name != "object file" && len(left) > 0 {
							t.Errorf("left: %v", left)
						}
					}
				})
			}
		}
		r.emptied(t)
		r.works(t)
	}
}

// TestClosingInTheMiddle closes the scheduler while jobs spill, keep and save.
func TestClosingInTheMiddle(t *testing.T) {
	for i, name := range hungryNames {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, rigOptions{Options: local.Options{Executors: 2, Memory: small, Isolate: i%2 == 0}})
			var ticks atomic.Int64
			reached := make(chan bool)
			over := make(chan error, 1)
			go func() {
				over <- hungry(context.Background(), r, t.TempDir(), func() {
					if ticks.Add(1) == 4500 {
						close(reached)
					}
				})[name]()
			}()
			<-reached
			if err := within(t, "close", r.scheduler.Close); err != nil {
				t.Error(err)
			}
			if err := within(t, "job", func() error { return <-over }); err != nil && !errors.Is(err, scheduler.ErrClosed) {
				t.Errorf("error %v", err)
			}
			if reserved, stored := r.cluster.Memory(); reserved != 0 || stored != 0 {
				t.Errorf("%d bytes reserved and %d stored", reserved, stored)
			}
		})
	}
}

// TestAFolderThatIsTakenAway replaces the folder of a cluster by a file in the middle of its jobs: they fail with an error
// that names place and file, or need no disk; nothing is lost in silence.
func TestAFolderThatIsTakenAway(t *testing.T) {
	for _, name := range hungryNames {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cluster")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			r := newRig(t, rigOptions{Options: local.Options{Memory: small, Dir: dir}})
			var ticks atomic.Int64
			err := within(t, name, hungry(t.Context(), r, t.TempDir(), func() {
				if ticks.Add(1) == 5000 {
					if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrExist) {
						t.Log(err) // a file came meanwhile
					}
					_ = os.WriteFile(dir, nil, 0o644)
				}
			})[name])
			if err != nil {
				wantPlace(t, err)
				_, marked := errors.AsType[*rdd.CheckpointError](err) // it says only that there is no room
				if !marked && !strings.Contains(err.Error(), dir) {
					t.Errorf("error %v does not name the folder", err)
				}
			}
			r.released(t)
			// Small jobs need no disk.
			err = within(t, "small job", func() error {
				n, err := rdd.Parallelize(r.Context, ints(10), 2).Count(t.Context())
				if n != 10 {
					err = errors.Join(err, fmt.Errorf("%d records", n))
				}
				return err
			})
			if err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestAFolderThatCannotBeMade fails what needs the disk, and nothing else.
func TestAFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	for _, dir := range []string{filepath.Join(file, "below"), filepath.Join(t.TempDir(), "none")} {
		r := newRig(t, rigOptions{Options: local.Options{Memory: small, Dir: dir}})
		r.works(t)
		kept := fat(r.Context, 4000)
		if err := kept.Persist(rdd.MemoryAndDisk()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // what cannot be kept is computed (S5)
			if n, err := kept.Count(t.Context()); n != 4000 || err != nil {
				t.Errorf("kept: %d, %v", n, err)
			}
		}
		kept.Unpersist()
		err := within(t, "group", func() error { _, err := rdd.GroupByKey(fat(r.Context, 16_000)).Count(t.Context()); return err })
		if err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("error %v", err)
		}
		wantPlace(t, err)
		r.works(t)
	}
}

// TestAByteOfMemory has every job go through files.
func TestAByteOfMemory(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		r := newRig(t, rigOptions{Options: local.Options{Executors: 2, Memory: 1, Isolate: isolate}})
		for _, name := range hungryNames {
			dir := t.TempDir()
			if err := within(t, name, hungry(t.Context(), r, dir, func() {})[name]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.works(t)
		r.emptied(t)
	}
}

// TestAHugeRecordUnderASmallBudget takes one record of 64 MiB through what has room for one (H-06).
func TestAHugeRecordUnderASmallBudget(t *testing.T) {
	const size = 64 << 20
	for _, isolate := range []bool{false, true} {
		t.Run(fmt.Sprintf("isolate=%t", isolate), func(t *testing.T) {
			r := newRig(t, rigOptions{Options: local.Options{Memory: small, Isolate: isolate}})
			rows := rdd.Map(rdd.Parallelize(r.Context, ints(4), 1), func(i int) rdd.Pair[int, string] {
				if i == 2 {
					return rdd.Pair[int, string]{Key: i, Value: strings.Repeat("x", size)}
				}
				return rdd.Pair[int, string]{Key: i, Value: "y"}
			})
			check := func(name string, r *rdd.RDD[int], err error) {
				t.Helper()
				var rows []int
				if err == nil {
					rows, err = r.Collect(t.Context())
				}
				slices.Sort(rows)
				if err != nil || !slices.Equal(rows, []int{1, 1, 1, size}) {
					t.Errorf("%s: lengths %v, %v", name, rows, err)
				}
			}
			length := func(p rdd.Pair[int, string]) int { return len(p.Value) }
			check("deal", rdd.Map(rows.Repartition(2), length), nil)
			check("group", rdd.Map(rdd.GroupByKey(rows), func(p rdd.Pair[int, []string]) int { return len(p.Value[0]) }), nil)
			check("reduce", rdd.Map(rdd.ReduceByKey(rows, func(a, b string) string { return a + b }), length), nil)
			sorted, err := rdd.SortBy(t.Context(), rows, func(p rdd.Pair[int, string]) int { return -p.Key })
			check("sort", rdd.Map(sorted, length), err)
			keys := rdd.Distinct(rdd.Values(rows)) // the huge one is a key here
			if n, err := keys.Count(t.Context()); n != 2 || err != nil {
				t.Errorf("distinct: %d, %v", n, err)
			}
			kept := persisted(t, rows, rdd.MemoryAndDisk())
			for range 2 {
				check("keep", rdd.Map(kept, length), nil)
			}
			r.released(t)
		})
	}
}

// TestAHundredThousandPartitions has almost all buckets of a shuffle be empty, on either side of it.
func TestAHundredThousandPartitions(t *testing.T) {
	const n = 100_000
	r := newRig(t, rigOptions{Options: local.Options{Memory: 64 << 20}})
	err := within(t, "reducers", func() error {
		rows, err := rdd.ReduceByKey(rdd.Parallelize(r.Context, pairs(1000, 100), 2), plus, rdd.NumPartitions(n)).Collect(t.Context())
		if len(rows) != 100 {
			t.Errorf("%d keys", len(rows))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	err = within(t, "maps", func() error {
		rows, err := rdd.GroupByKey(rdd.Parallelize(r.Context, pairs(1000, 100), n), rdd.NumPartitions(2)).Collect(t.Context())
		if len(rows) != 100 || len(rows[0].Value) != 10 {
			t.Errorf("%d keys", len(rows))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestConcurrentActions runs actions of several pools and groups at once, some cancelled, with copies of slow tasks and
// exclusion on, and closes the scheduler in the end (D28-D31).
func TestConcurrentActions(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		r := newRig(t, rigOptions{Options: local.Options{Executors: 2, Memory: small, Isolate: isolate}, Scheduler: scheduler.Options{
			Mode: scheduler.FAIR, Pools: []scheduler.Pool{{Name: "a", Weight: 3}, {Name: "b", Parent: "a", MinShare: 1}},
			Speculation: scheduler.Speculation{Enabled: true, Interval: 1, MinRuntime: 1, Multiplier: 1.0001, Quantile: 0.1, AnyRate: true},
			Exclusion:   scheduler.Exclusion{Enabled: true},
		}})
		shared := rdd.ReduceByKey(fat(r.Context, 3000), func(a, b string) string { return max(a, b) })
		if err := shared.Persist(rdd.MemoryAndDisk()); err != nil {
			t.Fatal(err)
		}
		err := within(t, "actions", func() error {
			var wg sync.WaitGroup
			errs := make(chan error, 1000)
			for g := range 6 {
				wg.Go(func() {
					for i := range 12 {
						name := fmt.Sprintf("group %d.%d", g, i)
						ctx := rdd.WithTags(rdd.WithPool(rdd.WithJobGroup(context.Background(), name, ""), string(rune('a'+g))), "tag")
						f := rdd.CollectAsync(ctx, rdd.GroupByKey(shared))
						doomed := rdd.ForeachAsync(ctx, shared, func(rdd.Pair[int, string]) {})
						switch i % 4 {
						case 0:
							doomed.Cancel()
						case 1:
							r.scheduler.CancelGroup(name, false)
						}
						rows, err := f.Wait(context.Background())
						switch {
						case err == nil && len(rows) != 97:
							err = fmt.Errorf("%d rows", len(rows))
						case errors.Is(err, scheduler.ErrCanceled) && i%4 == 1:
							err = nil
						}
						if _, e := doomed.Wait(context.Background()); e != nil && !errors.Is(e, context.Canceled) && !errors.Is(e, scheduler.ErrCanceled) {
							err = errors.Join(err, e)
						}
						errs <- err
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
		r.released(t)
		// Now in the middle of a few.
		reached := make(chan bool, 1)
		var futures []*rdd.Future[struct{}]
		for range 4 {
			futures = append(futures, rdd.ForeachAsync(t.Context(), rdd.GroupByKey(fat(r.Context, 6000)), func(rdd.Pair[int, []string]) {
				select {
				case reached <- true:
				default:
				}
			}))
		}
		<-reached
		if err := within(t, "close", r.scheduler.Close); err != nil {
			t.Error(err)
		}
		for _, f := range futures {
			if _, err := f.Wait(t.Context()); err != nil && !errors.Is(err, scheduler.ErrClosed) {
				t.Errorf("error %v", err)
			}
		}
	}
}

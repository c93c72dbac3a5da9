package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// ways are how a function of the program does not come back.
var ways = map[string]func(){
	"panic": func() { panic("boom") },
	"nil":   func() { panic(nil) },
	"map":   func() { count(nil, "a") },
	"exit":  runtime.Goexit,
}

func count(m map[string]int, key string) { m[key]++ }

// spoiled is a record whose methods do not come back. read and write may be nil.
type spoiled struct{ N int }

var spoiledWrite, spoiledRead atomic.Pointer[func()]

func call(f *atomic.Pointer[func()]) {
	if f := f.Load(); f != nil {
		(*f)()
	}
}

func (s spoiled) MarshalBinary() ([]byte, error) {
	call(&spoiledWrite)
	return make([]byte, 600), nil
}
func (s *spoiled) UnmarshalBinary([]byte) error {
	call(&spoiledRead)
	return nil
}

// mine is a committer each of whose methods may not come back.
type mine struct {
	setup, create, write, commit, abort, commitJob, abortJob func()
	open                                                     atomic.Int32 // parts that were neither committed nor aborted
	aborted                                                  atomic.Int32
}

func run(f func()) {
	if f != nil {
		f()
	}
}

func (m *mine) SetupJob(context.Context, int) error { run(m.setup); return nil }
func (m *mine) CreatePart(context.Context, int, lineage.Attempt) (rdd.PartWriter, error) {
	run(m.create)
	m.open.Add(1)
	return minePart{m}, nil
}
func (m *mine) CommitJob(context.Context, [][]byte) error { run(m.commitJob); return nil }
func (m *mine) AbortJob(context.Context) error            { m.aborted.Add(1); run(m.abortJob); return nil }

// closed waits until attempts that the job has not waited for are through with their parts.
func (m *mine) closed(t *testing.T) {
	t.Helper()
	settles(t, func() string {
		if n := m.open.Load(); n != 0 {
			return fmt.Sprintf("%d parts are neither committed nor aborted", n)
		}
		return ""
	})
}

type minePart struct{ m *mine }

func (p minePart) Write(b []byte) (int, error) { run(p.m.write); return len(b), nil }
func (p minePart) Commit(context.Context) ([]byte, error) {
	run(p.m.commit)
	p.m.open.Add(-1)
	return nil, nil
}
func (p minePart) Abort(context.Context) error { p.m.open.Add(-1); run(p.m.abort); return nil }

// hosts is a block source that does not say where its blocks are.
type hosts struct {
	calls *atomic.Int32
	from  int32 // the call that does not come back, and those after it
	f     func()
}

func (h hosts) Block(context.Context, string) ([]int, error) { return []int{1, 2}, nil }
func (h hosts) Hosts(string) []string {
	if h.calls.Add(1) >= h.from {
		h.f()
	}
	return []string{"nowhere"}
}

// TestUserCodeThatDoesNotComeBack has functions of the program panic and end their goroutine wherever there is one (B7): the
// job fails with an error that names the place, and the cluster goes on.
func TestUserCodeThatDoesNotComeBack(t *testing.T) {
	rigs(t, func(t *testing.T, r *rig) {
		nums, single := rdd.Parallelize(r.Context, ints(100), 2), rdd.Parallelize(r.Context, ints(3), 1)
		ps := rdd.Parallelize(r.Context, pairs(100, 5), 2)
		count := func(n func(context.Context) (int64, error)) func() error {
			return func() error { _, err := n(t.Context()); return err }
		}
		for way, f := range ways {
			custom := func(m *mine) func() error {
				return func() error {
					err := nums.SaveWith(t.Context(), m, func(w io.Writer, rows iter.Seq[int]) error {
						for x := range rows {
							if _, err := fmt.Fprintln(w, x); err != nil {
								return err
							}
						}
						return nil
					})
					m.closed(t)
					if m.aborted.Load() != 1 {
						t.Errorf("the job was aborted %d times", m.aborted.Load())
					}
					return err
				}
			}
			bad := rdd.PartitionFunc("bad", 3, func(int) int { f(); return 0 })
			for name, run := range map[string]func() error{
				"partitioner":           count(rdd.PartitionBy(ps, bad).Count),
				"partitioner, combine":  count(rdd.ReduceByKey(ps, plus, rdd.PartitionedBy(bad)).Count),
				"partitioner, group":    count(rdd.GroupByKey(ps, rdd.PartitionedBy(bad)).Count),
				"partitioner, cogroup":  count(rdd.CoGroupAll(r.Context, []*rdd.RDD[rdd.Pair[int, int]]{ps, ps}, rdd.PartitionedBy(bad)).Count),
				"partitioner, distinct": count(rdd.Distinct(nums, rdd.PartitionedBy(bad)).Count),
				"comparator": func() error {
					s, err := rdd.SortByFunc(t.Context(), nums, func(x int) int { return x }, func(a, b int) int { f(); return 0 })
					if err == nil {
						_, err = s.Count(t.Context())
					}
					return err
				},
				"comparator within": count(rdd.RepartitionAndSortWithinPartitionsFunc(ps, rdd.Partitioner[int](rdd.Hash[int](2)), func(a, b int) int { f(); return 0 }).Count),
				"comparator, top": func() error {
					_, err := rdd.TopFunc(t.Context(), nums, 3, func(a, b int) int { f(); return 0 })
					return err
				},
				"lookup": func() error {
					placed := rdd.PartitionBy(ps, bad)
					_, err := rdd.Lookup(t.Context(), placed, 1)
					return err
				},
				"filterByRange, partitioned": func() error {
					var armed atomic.Bool
					s, err := rdd.SortByKeyFunc(t.Context(), ps, func(a, b int) int {
						if armed.Load() {
							f()
						}
						return a - b
					}, rdd.SortPartitions(2))
					if err != nil {
						return err
					}
					armed.Store(true)
					_, err = rdd.FilterByRangeFunc(s, 1, 2, func(a, b int) int { return a - b }).Count(t.Context())
					return err
				},
				"filterByRange": count(rdd.FilterByRangeFunc(ps, 1, 2, func(a, b int) int { f(); return 0 }).Count),
				"accumulator zero in a task": func() error {
					first := true
					var mu sync.Mutex
					a, err := rdd.NewAccumulator(r.Context, "bad", func() int {
						mu.Lock()
						defer mu.Unlock()
						if !first {
							f()
						}
						first = false
						return 0
					}, plus, plus)
					if err != nil {
						return err
					}
					_, err = rdd.MapWith(nums, func(ctx context.Context, _ int) (func(int) int, error) {
						return func(int) int { return 0 }, a.Add(ctx, 1)
					}).Count(t.Context())
					return err
				},
				"accumulator add": func() error {
					a, err := rdd.NewAccumulator(r.Context, "bad", func() int { return 0 }, func(int, int) int { f(); return 0 }, plus)
					if err != nil {
						return err
					}
					_, err = rdd.MapWith(nums, func(ctx context.Context, _ int) (func(int) int, error) {
						l, err := a.Local(ctx)
						return func(x int) int { l.Add(x); return x }, err
					}).Count(t.Context())
					return err
				},
				"completion hook": func() error {
					var ran atomic.Int32
					_, err := rdd.MapWith(single, func(ctx context.Context, _ int) (func(int) int, error) {
						at, _ := rdd.TaskFrom(ctx)
						at.OnCompletion(func() error { ran.Add(1); return nil })
						at.OnCompletion(func() error { f(); return nil })
						at.OnCompletion(func() error { ran.Add(1); return nil })
						return func(x int) int { return x }, nil
					}).Count(t.Context())
					if n := ran.Load(); n == 0 || n%2 != 0 {
						t.Errorf("%d other hooks ran, want two a task", n)
					}
					return err
				},
				"failure hook": func() error {
					var ran atomic.Int32
					_, err := rdd.MapWith(single, func(ctx context.Context, _ int) (func(int) int, error) {
						at, _ := rdd.TaskFrom(ctx)
						at.OnCompletion(func() error { ran.Add(1); return nil })
						at.OnFailure(func(error) { f() })
						return func(int) int { panic("boom") }, nil
					}).Count(t.Context())
					if ran.Load() == 0 {
						t.Error("the completion hook did not run")
					}
					return err
				},
				"committer: setup": func() error {
					return nums.SaveWith(t.Context(), &mine{setup: f}, func(io.Writer, iter.Seq[int]) error { return nil })
				},
				"committer: create":    custom(&mine{create: f}),
				"committer: write":     custom(&mine{write: f}),
				"committer: commit":    custom(&mine{commit: f}),
				"committer: abort":     custom(&mine{write: f, abort: f}),
				"committer: commitJob": custom(&mine{commitJob: f}),
				"committer: abortJob":  custom(&mine{write: f, abortJob: f}),
				"save writer": func() error {
					m := &mine{}
					err := nums.SaveWith(t.Context(), m, func(io.Writer, iter.Seq[int]) error { f(); return nil })
					m.closed(t)
					return err
				},
				"JSON method": func() error {
					dir := filepath.Join(t.TempDir(), "out")
					spoil := badJSON{f}
					err := rdd.Map(nums, func(int) badJSON { return spoil }).SaveAsJSON(t.Context(), dir)
					if _, missing := os.Stat(dir); !errors.Is(missing, os.ErrNotExist) {
						t.Errorf("the folder of the save is still there: %v", missing)
					}
					return err
				},
				"skip": func() error {
					path := filepath.Join(t.TempDir(), "f.json")
					write(t, path, "1\nx\n2\n")
					_, err := rdd.JSONFile[int](r.Context, path, 1, rdd.SkipBadLines(func(*rdd.DecodeError) { f() })).Count(t.Context())
					return err
				},
				"mapWith":           count(rdd.MapWith(nums, func(context.Context, int) (func(int) int, error) { f(); return nil, nil }).Count),
				"filterWith":        count(rdd.FilterWith(nums, func(context.Context, int) (func(int) bool, error) { f(); return nil, nil }).Count),
				"flatMapWith":       count(rdd.FlatMapWith(nums, func(context.Context, int) (func(int, []int) []int, error) { f(); return nil, nil }).Count),
				"mapWith, function": count(rdd.MapWith(nums, func(context.Context, int) (func(int) int, error) { return func(int) int { f(); return 0 }, nil }).Count),
				"zipPartitions3":    count(rdd.ZipPartitions3(nums, nums, nums, func(a, b, c iter.Seq[int]) iter.Seq[int] { f(); return nil }).Count),
				"zipRows":           count(rdd.ZipRows(r.Context, "mine", nums, nums, nil, func(int, rdd.Rows[int], rdd.Rows[int], func([]int) error) error { f(); return nil }).Count),
				"mapChunks":         count(rdd.MapChunks(nums, func([]int, []int) ([]int, error) { f(); return nil, nil }).Count),
				"flatMapSeq":        count(rdd.FlatMapSeq(nums, func(int) iter.Seq[int] { return func(func(int) bool) { f() } }).Count),
				"filterMap":         count(rdd.FilterMap(nums, func(int) (int, bool) { f(); return 0, false }).Count),
				"context": count(rdd.MapPartitionsWithContext(nums, func(context.Context, int, iter.Seq[int]) iter.Seq2[int, error] {
					return func(func(int, error) bool) { f() }
				}).Count),
				"async": func() error {
					_, err := rdd.ForeachAsync(t.Context(), nums, func(int) { f() }).Wait(t.Context())
					return err
				},
				"async count": func() error {
					_, err := rdd.CountAsync(t.Context(), rdd.Map(nums, func(int) int { f(); return 0 })).Wait(t.Context())
					return err
				},
				"tree": func() error {
					_, err := rdd.TreeReduce(t.Context(), nums, func(a, b int) int { f(); return 0 }, 3)
					return err
				},
				"locally": func() error {
					_, err := rdd.ReduceByKeyLocally(t.Context(), ps, func(a, b int) int { f(); return 0 })
					return err
				},
				"persisted": count(persisted(t, rdd.Map(nums, func(int) int { f(); return 0 }), rdd.Replicated(rdd.MemoryAndDisk(), 2)).Count),
				"local checkpoint": func() error {
					marked := rdd.Map(nums, func(x int) int { f(); return x })
					if err := marked.LocalCheckpoint(); err != nil {
						return err
					}
					_, err := marked.Count(t.Context())
					return err
				},
			} {
				t.Run(name+"/"+way, func(t *testing.T) {
					err := within(t, name, run)
					if err != nil && way == "exit" && err.Error() == name+" ended its goroutine" {
						return // the function was called on the caller's own goroutine, which it has ended
					}
					wantPlace(t, err)
				})
			}
		}
		r.released(t)
		r.works(t)
	})
}

func persisted[T any](t *testing.T, r *rdd.RDD[T], level rdd.StorageLevel) *rdd.RDD[T] {
	t.Helper()
	if err := r.Persist(level); err != nil {
		t.Fatal(err)
	}
	return r
}

type badJSON struct{ f func() }

func (b badJSON) MarshalJSON() ([]byte, error) { b.f(); return nil, nil }

// TestUserCodeOnTheSchedulersSide has functions that the scheduler calls itself not come back: it goes on (B7).
func TestUserCodeOnTheSchedulersSide(t *testing.T) {
	for way, f := range ways {
		t.Run(way, func(t *testing.T) {
			var told atomic.Int32
			r := newRig(t, rigOptions{Options: local.Options{Executors: 2}, Scheduler: scheduler.Options{
				LocalityWait: 1, Rack: func(string) string { f(); return "" },
				Listeners: []scheduler.Listener{
					{JobStarted: func(scheduler.JobStarted) { f() }, TaskEnded: func(scheduler.TaskEnded) { f() },
						BlockUpdated: func(scheduler.BlockUpdated) { f() }, JobEnded: func(scheduler.JobEnded) { told.Add(1) }},
				}}})
			nums := rdd.Parallelize(r.Context, ints(100), 4)
			a, err := rdd.NewAccumulator(r.Context, "bad", func() int { return 0 }, plus, func(int, int) int { f(); return 0 })
			if err != nil {
				t.Fatal(err)
			}
			good, err := rdd.NewLongAccumulator(r.Context, "good")
			if err != nil {
				t.Fatal(err)
			}
			err = within(t, "accumulators", func() error {
				n, err := rdd.MapWith(nums, func(ctx context.Context, _ int) (func(int) int, error) {
					return func(x int) int { return x }, errors.Join(a.Add(ctx, 1), good.Add(ctx, 1))
				}).Cache().Count(t.Context())
				if n != 100 {
					t.Errorf("%d records", n)
				}
				return err
			})
			if v, _ := good.Value(t.Context()); err != nil || v.Sum != 4 {
				t.Errorf("another accumulator is %+v, %v", v, err)
			}
			for _, from := range []int32{1, 4, 5, 6} {
				blocks := rdd.BlockRDD(r.Context, hosts{calls: new(atomic.Int32), from: from, f: f}, []string{"a", "b", "c"})
				err := within(t, "hosts", func() error { _, err := rdd.Map(blocks, func(x int) int { return x }).Count(t.Context()); return err })
				if err != nil {
					wantPlace(t, err)
				}
			}
			r.works(t)
			if err := within(t, "close", r.scheduler.Close); err != nil {
				t.Error(err)
			}
			if told.Load() < 3 {
				t.Errorf("the listener heard of the end of %d jobs", told.Load())
			}
		})
	}
}

// TestMethodsThatEncode has records whose methods do not come back when they are encoded and decoded: for the task's own use, and for that of
// another one that needs the memory (B7).
func TestMethodsThatEncode(t *testing.T) {
	defer spoiledWrite.Store(nil)
	defer spoiledRead.Store(nil)
	for way, f := range ways {
		for at, hook := range map[string]*atomic.Pointer[func()]{"write": &spoiledWrite, "read": &spoiledRead} {
			for _, isolate := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/isolate=%t", at, way, isolate), func(t *testing.T) {
					r := newRig(t, rigOptions{Options: local.Options{Memory: small, Isolate: isolate}})
					hook.Store(&f)
					defer hook.Store(nil)
					bad := rdd.Map(rdd.Range(r.Context, 0, 4000, 1, 2), func(i int64) rdd.Pair[int, spoiled] {
						return rdd.Pair[int, spoiled]{Key: int(i), Value: spoiled{int(i)}}
					})
					jobs := map[string]func() error{
						"group":   func() error { _, err := rdd.GroupByKey(bad).Count(t.Context()); return err },
						"deal":    func() error { _, err := bad.Repartition(3).Count(t.Context()); return err },
						"persist": func() error { _, err := persisted(t, bad, rdd.DiskOnly()).Count(t.Context()); return err },
						"keep": func() error {
							_, err := persisted(t, rdd.Map(bad, func(p rdd.Pair[int, spoiled]) spoiled { return p.Value }), rdd.MemoryAndDisk()).Count(t.Context())
							return err
						},
						"broadcast": func() error {
							b, err := rdd.NewBroadcast(r.Context, spoiled{1})
							if err != nil {
								return err
							}
							if _, err := b.Value(t.Context()); at == "read" && err == nil {
								t.Error("the program reads a broadcast that cannot be decoded")
							}
							_, err = rdd.MapWith(rdd.Parallelize(r.Context, ints(4), 2), func(ctx context.Context, _ int) (func(int) int, error) {
								_, err := b.Value(ctx)
								return func(x int) int { return x }, err
							}).Count(t.Context())
							return err
						},
						"object file": func() error {
							dir := filepath.Join(t.TempDir(), "out")
							if err := bad.SaveAsObjectFile(t.Context(), dir); err != nil {
								return err
							}
							_, err := rdd.ObjectFile[rdd.Pair[int, spoiled]](r.Context, dir).Count(t.Context())
							return err
						},
					}
					for name, job := range jobs {
						err := within(t, name, job)
						if err == nil || way == "exit" && err.Error() == name+" ended its goroutine" {
							continue // it needed no encoding, or was called on the caller's own goroutine
						}
						wantPlace(t, err)
					}
					// What memory holds of them now has to make room for others, whose tasks must not suffer.
					n, err := rdd.GroupByKey(fat(r.Context, 8000)).Count(t.Context())
					if err != nil || n != 97 {
						t.Errorf("another job: %d, %v", n, err)
					}
					r.released(t)
					r.works(t)
				})
			}
		}
	}
}

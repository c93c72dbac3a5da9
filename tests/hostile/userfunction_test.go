package hostile

import (
	"context"
	"errors"
	"iter"
	"os"
	"runtime"
	"testing"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
)

// brokenError is an error of the program whose text cannot be had.
type brokenError struct{ text *string }

func (e *brokenError) Error() string { return *e.text }

// brokenCodec is a record that encodes itself and panics when it is read back.
type brokenCodec struct{ N int }

func (b brokenCodec) MarshalBinary() ([]byte, error) { return []byte{1}, nil }
func (b *brokenCodec) UnmarshalBinary([]byte) error  { panic("unmarshal") }

func TestAPanicOfAFunctionNamesOperatorAndPlace(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		nums := rdd.Parallelize(e.RDDs(), ints(100), 4)
		ps := rdd.Parallelize(e.RDDs(), pairs(100, 5), 4)
		count := func(n func(context.Context) (int64, error)) func() error {
			return func() error { _, err := n(t.Context()); return err }
		}
		for _, c := range []struct {
			name, op, cause string
			run             func() error
		}{
			{"map", "map", "panic: boom", count(rdd.Map(nums, func(int) int { panic("boom") }).Count)},
			{"nil", "map", "nil", count(rdd.Map(nums, func(int) int { panic(nil) }).Count)},
			{"error value", "map", "boom", count(rdd.Map(nums, func(int) int { panic(errors.New("boom")) }).Count)},
			{"runtime error", "map", "out of range", count(rdd.Map(nums, func(x int) int { return []int{1}[x+1] }).Count)},
			{"value whose text panics", "map", "panic", count(rdd.Map(nums, func(int) int { panic((*brokenError)(nil)) }).Count)},
			{"filter", "filter", "boom", count(nums.Filter(func(int) bool { panic("boom") }).Count)},
			{"combine", "reduceByKey", "boom", count(rdd.ReduceByKey(ps, func(a, b int) int { panic("boom") }).Count)},
			{"merge on the reduce side", "reduceByKey", "boom", count(rdd.ReduceByKey(ps, func(a, b int) int {
				if a+b > 20/4 {
					panic("boom")
				}
				return a + b
			}).Count)},
			{"merge without combine", "reduceByKey", "boom", count(rdd.ReduceByKey(ps, func(a, b int) int { panic("boom") },
				rdd.WithoutMapSideCombine()).Count)},
			{"partitioner", "partitionBy", "boom", count(rdd.PartitionBy(ps, rdd.PartitionFunc("bad", 3, func(int) int { panic("boom") })).Count)},
			{"partitioner out of range", "partitionBy", "partition 7", count(rdd.PartitionBy(ps, rdd.PartitionFunc("bad", 3, func(int) int { return 7 })).Count)},
			{"partitioner of combine", "reduceByKey", "boom", count(rdd.ReduceByKey(ps, plus,
				rdd.PartitionedBy(rdd.PartitionFunc("bad", 3, func(int) int { panic("boom") }))).Count)},
			{"map partitions", "mapPartitions", "boom", count(rdd.MapPartitions(nums, func(in iter.Seq[int]) iter.Seq[int] {
				return func(func(int) bool) { panic("boom") }
			}).Count)},
			{"reduce on the caller's side", "parallelize", "boom", func() error {
				_, err := rdd.Parallelize(e.RDDs(), ints(2), 2).Reduce(t.Context(), func(int, int) int { panic("boom") })
				return err
			}},
			{"foreach", "parallelize", "boom", func() error { return nums.Foreach(t.Context(), func(int) { panic("boom") }) }},
			{"sort key", "parallelize", "boom", func() error {
				r, err := rdd.SortBy(t.Context(), nums, func(int) int { panic("boom") })
				if err != nil {
					return err
				}
				_, err = r.Count(t.Context())
				return err
			}},
			{"top", "parallelize", "boom", func() error {
				_, err := rdd.TopFunc(t.Context(), nums, 3, func(a, b int) int { panic("boom") })
				return err
			}},
		} {
			t.Run(c.name, func(t *testing.T) { wantUserError(t, within(t, c.name, c.run), c.op, c.cause) })
		}
	})
}

func TestErrorsOfAFunctionAreFoundInEveryMode(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		nums := rdd.Parallelize(e.RDDs(), ints(4), 2)
		err := within(t, "job", func() error {
			_, err := rdd.TryMap(nums, func(int) (int, error) { return 0, os.ErrNotExist }).Count(t.Context())
			return err
		})
		wantUserError(t, err, "tryMap", "file does not exist")
		task, ok := errors.AsType[*scheduler.TaskError](err)
		if !ok || task.Op == "" || task.Site == "" || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("error %#v: %v", task, err)
		}
		build := &rdd.BuildError{}
		if _, err := rdd.Map[int, int](nums, nil).Count(t.Context()); !errors.As(err, &build) || !errors.Is(err, rdd.ErrNilFunction) {
			t.Errorf("nil function: %v", err)
		}
		wantPlace(t, build)
	})
}

func TestAnErrorWhoseTextPanics(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		r := rdd.TryMap(rdd.Parallelize(e.RDDs(), ints(4), 2), func(int) (int, error) { return 0, (*brokenError)(nil) })
		err := within(t, "job", func() error { _, err := r.Count(t.Context()); return err })
		if u, ok := errors.AsType[*rdd.UserError](err); !ok || u.Op != "tryMap" {
			t.Errorf("no *rdd.UserError")
		}
		if within(t, "text of the error", func() error { _ = err.Error(); return nil }) == nil {
			wantPlace(t, err)
		}
	})
}

func TestGoexitInATask(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		nums := rdd.Parallelize(e.RDDs(), ints(4), 2)
		r := rdd.Map(nums, func(x int) int { runtime.Goexit(); return x })
		kept := rdd.Map(nums, func(x int) int { runtime.Goexit(); return x }).Cache()
		for _, r := range []*rdd.RDD[int]{r, kept} {
			err := within(t, "job", func() error { _, err := r.Count(t.Context()); return err })
			if _, ok := errors.AsType[*scheduler.TaskError](err); !ok {
				t.Errorf("error %v, want a *scheduler.TaskError", err)
			}
			wantPlace(t, err)
		}
		if n, err := nums.Count(t.Context()); n != 4 || err != nil {
			t.Errorf("the engine afterwards: %d, %v", n, err)
		}
	})
}

func TestGoexitInAFunctionOnTheCallersSide(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{})
	nums := rdd.Parallelize(e.RDDs(), ints(4), 2)
	_ = within(t, "job", func() error {
		return rdd.RunJob(t.Context(), nums, []int{0, 1}, func(context.Context, int, iter.Seq[int]) (int, error) { return 1, nil },
			func(int, int) error { runtime.Goexit(); return nil })
	})
	if err := within(t, "next job", func() error { _, err := nums.Count(t.Context()); return err }); err != nil {
		t.Errorf("the engine afterwards: %v", err)
	}
}

func TestAPanicWhereResultsAreTaken(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		nums := rdd.Parallelize(e.RDDs(), ints(4), 2)
		err := within(t, "job", func() error {
			return rdd.RunJob(t.Context(), nums, []int{0, 1}, func(context.Context, int, iter.Seq[int]) (int, error) { return 1, nil },
				func(int, int) error { panic("boom") })
		})
		wantPlace(t, err)
	})
}

func TestARecordThatCannotBeReadBack(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{Isolate: true})
	r := rdd.Map(rdd.Parallelize(e.RDDs(), ints(4), 2), func(n int) brokenCodec { return brokenCodec{n} })
	err := within(t, "result", func() error { _, err := r.Collect(t.Context()); return err })
	wantPlace(t, err)
	err = within(t, "bucket", func() error { _, err := r.Repartition(3).Count(t.Context()); return err })
	wantPlace(t, err)
	err = within(t, "kept partition", func() error { _, err := r.Cache().Count(t.Context()); return err })
	wantPlace(t, err)
}

func TestAFunctionThatBlocksUntilCancelled(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		nums := rdd.Parallelize(e.RDDs(), ints(4), 2)
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("enough")
		err := within(t, "job", func() error {
			return nums.ForeachPartition(ctx, func(ctx context.Context, _ int, _ iter.Seq[int]) error {
				cancel(stop)
				<-ctx.Done()
				return ctx.Err()
			})
		})
		if canceled, ok := errors.AsType[*scheduler.CanceledError](err); !ok || canceled.Site == "" || !errors.Is(err, stop) || !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := nums.Count(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before: %v", err)
		}
	})
}

func TestAnExecutorKilledUnderABlockingTask(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		nums := rdd.Parallelize(e.RDDs(), ints(100), 4)
		reached, first := make(chan bool, 100), make(chan bool, 1)
		first <- true
		r := rdd.ReduceByKey(rdd.MapPartitions(nums, func(in iter.Seq[int]) iter.Seq[rdd.Pair[int, int]] {
			select {
			case <-first:
				reached <- true
				for e.Cluster().Kill("local-0"); len(e.Cluster().Executors()) > 1; {
					e.Cluster().Kill("local-0")
				}
			default:
			}
			return func(yield func(rdd.Pair[int, int]) bool) {
				for x := range in {
					if !yield(rdd.Pair[int, int]{Key: x % 10, Value: 1}) {
						return
					}
				}
			}
		}), plus)
		err := within(t, "job", func() error {
			rows, err := r.Collect(t.Context())
			if len(rows) != 10 {
				t.Errorf("%d keys", len(rows))
			}
			for _, p := range rows {
				if p.Value != 10 {
					t.Errorf("key %d: %d records, want 10", p.Key, p.Value)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestTheOnlyExecutorIsKilled(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{})
	nums := rdd.Parallelize(e.RDDs(), ints(4), 2)
	if n, err := nums.Count(t.Context()); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	e.Cluster().Kill("local-0")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := nums.Count(ctx); done <- err }()
	e.Cluster().Add()
	if err := within(t, "job on the executor that came", func() error { return <-done }); err != nil {
		t.Error(err)
	}
	cancel()
}

package rdd

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/leat-io/leat/lineage"
)

// notes are what tasks noted, in order; one task at a time may be looked at by part.
type notes struct {
	mu   sync.Mutex
	rows map[int][]string
}

func (n *notes) note(part int, what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.rows == nil {
		n.rows = map[int][]string{}
	}
	n.rows[part] = append(n.rows[part], what)
}

func TestTaskContextKnowsItsTask_D23(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		ctx := WithTags(WithJobGroup(WithPool(t.Context(), "fast"), "g", "what for"), "a", "b", "a")
		var mu sync.Mutex
		ids := map[int64]int{}
		err := Parallelize(c, upTo(6), 3).ForeachPartition(ctx, func(ctx context.Context, part int, _ iter.Seq[int]) error {
			tc, ok := TaskFrom(ctx)
			if !ok || tc.Partition != part || tc.Number != 0 || tc.StageAttempt != 0 {
				t.Errorf("partition %d: %+v, %t", part, tc.Attempt, ok)
			}
			want := lineage.Properties{Pool: "fast", Group: "g", Description: "what for", Tags: []string{"a", "b"}}
			same(t, "properties", tc.Properties, want)
			mu.Lock()
			defer mu.Unlock()
			ids[tc.Task]++
			return nil
		})
		if err != nil || len(ids) != 3 {
			t.Errorf("tasks %v: %v", ids, err)
		}
		if _, ok := TaskFrom(ctx); ok {
			t.Error("a task outside of tasks")
		}
	})
}

func TestTaskHooks_D23(t *testing.T) {
	boom := errors.New("boom")
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for name, body := range map[string]func() error{
			"success": func() error { return nil }, "error": func() error { return boom }, "panic": func() error { panic("boom") },
		} {
			t.Run(name, func(t *testing.T) {
				var n notes
				var last TaskContext
				// Below a shuffle, so that the hooks of map tasks are tried as well.
				src := MapPartitionsWithContext(Parallelize(c, upTo(2), 1), func(ctx context.Context, part int, in iter.Seq[int]) iter.Seq2[int, error] {
					tc, _ := TaskFrom(ctx)
					last = tc
					if tc.Number == 0 {
						tc.OnCompletion(func() error { n.note(0, "first"); return nil })
						tc.OnFailure(func(err error) { n.note(0, "failed: "+err.Error()[strings.LastIndex(err.Error(), " ")+1:]) })
						tc.OnCompletion(func() error { n.note(0, "last"); return nil })
					}
					return func(yield func(int, error) bool) {
						n.note(0, "runs")
						if err := body(); err != nil {
							yield(0, err)
							return
						}
						for x := range in {
							if !yield(10*x, nil) {
								return
							}
						}
					}
				})
				_, err := src.Repartition(1).Collect(t.Context())
				if (err != nil) != (name != "success") {
					t.Fatalf("error %v", err)
				}
				want := []string{"runs", "last", "first"}
				if name != "success" {
					want = []string{"runs", "failed: boom", "last", "first"}
				}
				same(t, "notes of the first attempt", n.rows[0][:min(len(want), len(n.rows[0]))], want)
				var user *UserError
				if err != nil && !errors.As(err, &user) {
					t.Errorf("error %v, want a *UserError", err)
				}
				late := 0
				last.OnCompletion(func() error { late++; return nil })
				last.OnFailure(func(error) { late += 10 })
				if want := map[bool]int{true: 1, false: 11}[name == "success"]; late != want {
					t.Errorf("hooks registered after the end: %d, want %d", late, want)
				}
			})
		}
	})
}

func TestAFailingHookFailsTheTaskAndTheOthersRun(t *testing.T) {
	boom := errors.New("boom")
	for name, bad := range map[string]func() error{"error": func() error { return boom }, "panic": func() error { panic("boom") }} {
		t.Run(name, func(t *testing.T) {
			c, _ := inlineContext(t, Options{})
			ran := 0
			err := Parallelize(c, upTo(1), 1).ForeachPartition(t.Context(), func(ctx context.Context, _ int, _ iter.Seq[int]) error {
				tc, _ := TaskFrom(ctx)
				tc.OnCompletion(func() error { ran++; return nil })
				tc.OnCompletion(bad)
				tc.OnCompletion(func() error { ran++; return errors.New("later") })
				return nil
			})
			if ran != 2 || err == nil || !strings.Contains(err.Error(), "later") {
				t.Errorf("%d hooks ran, error %v", ran, err)
			}
		})
	}
}

func TestPanicsGoOnAfterTheHooks(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	ran := false
	work := func(task *task) error {
		TaskContext{task: task}.OnCompletion(func() error { ran = true; return nil })
		panic("deep")
	}
	defer func() {
		if v := recover(); v != "deep" || !ran {
			t.Errorf("recovered %v, hook ran: %t", v, ran)
		}
	}()
	_ = runTask(t.Context(), &inlineEnv{}, c.shared, work)
}

func TestMapPartitionsWithContext(t *testing.T) {
	boom := errors.New("boom")
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, upTo(5), 2)
		sums := MapPartitionsWithContext(r, func(ctx context.Context, part int, in iter.Seq[int]) iter.Seq2[string, error] {
			if _, err := r.Count(ctx); !errors.Is(err, ErrNestedJob) {
				return func(yield func(string, error) bool) { yield("", err) }
			}
			if part == 0 {
				return nil
			}
			return func(yield func(string, error) bool) {
				for range in {
					if !yield("x", nil) {
						return
					}
				}
			}
		})
		same(t, "rows", partsOf(t, sums), [][]string{nil, {"x", "x", "x"}})
		bad := MapPartitionsWithContext(r, func(context.Context, int, iter.Seq[int]) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				if yield(1, nil) {
					yield(0, boom)
				}
			}
		})
		_, err := bad.Collect(t.Context())
		var user *UserError
		if !errors.As(err, &user) || user.Op != "mapPartitionsWithContext" || !strings.Contains(err.Error(), "boom") {
			t.Errorf("error %v", err)
		}
		same(t, "a reader that has enough", must(bad.Take(t.Context(), 1)), []int{1})
		pairs := Parallelize(c, []Pair[int, int]{kv(1, 1)}, 1)
		placed := PartitionBy(pairs, Hash[int](2))
		again := MapPartitionsWithContext(placed, func(_ context.Context, _ int, in iter.Seq[Pair[int, int]]) iter.Seq2[Pair[int, int], error] {
			return func(yield func(Pair[int, int], error) bool) {
				for x := range in {
					if !yield(x, nil) {
						return
					}
				}
			}
		}, PreservePartitioning())
		same(t, "kept partitioner", again.Partitioner(), placed.Partitioner())
	})
	c, _ := inlineContext(t, Options{})
	_, err := MapPartitionsWithContext[int, int](Parallelize(c, upTo(1), 1), nil).Collect(t.Context())
	wantErr(t, "nil", err, ErrNilFunction)
}

func TestMapWithSetsUpOncePerPartition(t *testing.T) {
	boom := errors.New("boom")
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, upTo(2000), 3)
		var n notes
		doubled := MapWith(r, func(ctx context.Context, part int) (func(int) int, error) {
			if tc, ok := TaskFrom(ctx); !ok || tc.Partition != part {
				t.Errorf("task %+v in partition %d", tc.Attempt, part)
			}
			n.note(part, "set up")
			return func(x int) int { return 2 * x }, nil
		})
		odd := FilterWith(doubled, func(_ context.Context, part int) (func(int) bool, error) {
			return func(x int) bool { return x%4 == 2 && part != 1 }, nil
		})
		got := FlatMapWith(odd, func(context.Context, int) (func(int, []int) []int, error) {
			return func(x int, out []int) []int { return append(out, x, -x) }, nil
		})
		var want []int
		for i, x := range upTo(2000) {
			if from, to := 2000/3, 2*2000/3; x%2 == 1 && (i < from || i >= to) {
				want = append(want, 2*x, -2*x)
			}
		}
		same(t, "rows", collect(t, got), want)
		for part := range 3 {
			same(t, "set-ups", n.rows[part], []string{"set up"})
		}
		for name, bad := range map[string]*RDD[int]{
			"error": MapWith(Parallelize(c, []int{}, 2), func(context.Context, int) (func(int) int, error) { return nil, boom }),
			"panic": FilterWith(r, func(context.Context, int) (func(int) bool, error) { panic("boom") }),
			"nil":   FlatMapWith(r, func(context.Context, int) (func(int, []int) []int, error) { return nil, nil }),
		} {
			_, err := bad.Collect(t.Context())
			var user *UserError
			if !errors.As(err, &user) || user.Partition != 0 && user.Partition != 1 && user.Partition != 2 {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	c, _ := inlineContext(t, Options{})
	r := Parallelize(c, upTo(1), 1)
	for _, bad := range []*RDD[int]{MapWith[int, int](r, nil), FilterWith(r, nil), FlatMapWith[int, int](r, nil)} {
		_, err := bad.Collect(t.Context())
		wantErr(t, "nil", err, ErrNilFunction)
	}
}

func TestPropertiesDoNotShareTags(t *testing.T) {
	outer := WithTags(t.Context(), "a")
	left, right := WithTags(outer, "l"), WithTags(outer, "r")
	same(t, "left", lineage.PropertiesOf(left).Tags, []string{"a", "l"})
	same(t, "right", lineage.PropertiesOf(right).Tags, []string{"a", "r"})
	same(t, "outer", slices.Clone(lineage.PropertiesOf(outer).Tags), []string{"a"})
}

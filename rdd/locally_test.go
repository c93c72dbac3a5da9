package rdd

import (
	"context"
	"errors"
	"iter"
	"testing"
)

func TestCollectAsMap(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, []Pair[string, int]{kv("b", 1), kv("a", 2), kv("b", 3)}, 2)
		same(t, "the last value wins", must(CollectAsMap(t.Context(), r)), []Pair[string, int]{kv("b", 3), kv("a", 2)})
		same(t, "nothing", must(CollectAsMap(t.Context(), Empty[Pair[string, int]](c))), []Pair[string, int]{})
	})
}

func TestReduceByKeyLocally(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, []Pair[string, int]{kv("b", 1), kv("a", 0), kv("b", 3), kv("b", -4)}, 3)
		same(t, "sums", must(ReduceByKeyLocally(t.Context(), r, add[int])), []Pair[string, int]{kv("b", 0), kv("a", 0)})
		_, err := ReduceByKeyLocally(t.Context(), Empty[Pair[string, int]](c), add[int])
		wantErr(t, "no partitions", err, ErrEmpty)
		same(t, "empty ones", must(ReduceByKeyLocally(t.Context(), Parallelize(c, []Pair[int, int]{}, 2), add[int])), []Pair[int, int]{})
		_, err = ReduceByKeyLocally(t.Context(), r, func(int, int) int { panic("boom") })
		var user *UserError
		if !errors.As(err, &user) {
			t.Errorf("error %v", err)
		}
	})
}

func TestToLocalIterator(t *testing.T) {
	c, runner := inlineContext(t, Options{})
	r := Parallelize(c, upTo(6), 3)
	t.Run("a job for each partition the reader gets to", func(t *testing.T) {
		var got []int
		for x, err := range r.ToLocalIterator(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, x); len(got) == 3 {
				break
			}
		}
		same(t, "records", got, []int{1, 2, 3})
		same(t, "jobs", jobsOf(runner), []string{"toLocalIterator[0]", "toLocalIterator[1]"})
	})
	t.Run("an error comes last", func(t *testing.T) {
		bad := TryMap(r, func(x int) (int, error) {
			if x == 4 {
				return 0, errBoom
			}
			return x, nil
		})
		var got []int
		var last error
		for x, err := range bad.ToLocalIterator(t.Context()) {
			if last = err; err == nil {
				got = append(got, x)
			}
		}
		same(t, "records", got, []int{1, 2})
		wantErr(t, "last", last, errBoom)
	})
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		n := int64(0)
		for x, err := range Range(c, 0, 3000, 1, 2).ToLocalIterator(t.Context()) {
			if err != nil || x != n {
				t.Fatalf("record %d is %d, %v", n, x, err)
			}
			n++
		}
		same(t, "records", n, 3000)
	})
}

func TestRunJob(t *testing.T) {
	sum := func(_ context.Context, part int, rows iter.Seq[int]) (Pair[int, int], error) {
		total := 0
		for x := range rows {
			total += x
		}
		return kv(part, total), nil
	}
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, upTo(6), 3)
		t.Run("partitions may repeat and reorder", func(t *testing.T) {
			got := make([]Pair[int, int], 3)
			err := RunJob(t.Context(), r, []int{2, 0, 2}, sum, func(i int, result Pair[int, int]) error {
				got[i] = result
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "results", got, []Pair[int, int]{kv(2, 11), kv(0, 3), kv(2, 11)})
		})
		t.Run("an index out of range is refused before any task", func(t *testing.T) {
			for _, bad := range []int{-1, 3} {
				err := RunJob(t.Context(), r, []int{0, bad}, sum, func(int, Pair[int, int]) error {
					t.Error("a task ran")
					return nil
				})
				wantErr(t, "index", err, ErrArgument)
			}
		})
		t.Run("tasks refuse actions", func(t *testing.T) {
			err := RunJob(t.Context(), r, []int{0}, func(ctx context.Context, _ int, _ iter.Seq[int]) (int64, error) {
				return r.Count(ctx)
			}, func(int, int64) error { return nil })
			wantErr(t, "nested", err, ErrNestedJob)
		})
		t.Run("stopping early is no error", func(t *testing.T) {
			first := func(_ context.Context, _ int, rows iter.Seq[int]) (int, error) {
				for x := range rows {
					return x, nil
				}
				return 0, ErrEmpty
			}
			err := RunJob(t.Context(), r, []int{1}, first, func(_, x int) error {
				if x != 3 {
					t.Errorf("first of partition 1 is %d", x)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		t.Run("what fails is the caller's to see", func(t *testing.T) {
			panics := func(context.Context, int, iter.Seq[int]) (int, error) { panic("boom") }
			err := RunJob(t.Context(), r, []int{0}, panics, func(int, int) error { return nil })
			var user *UserError
			if !errors.As(err, &user) {
				t.Errorf("error %v", err)
			}
			wantErr(t, "nil", RunJob(t.Context(), r, []int{0}, sum, nil), ErrNilFunction)
		})
	})
}

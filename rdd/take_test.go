package rdd

import (
	"errors"
	"slices"
	"testing"
)

func TestTake(t *testing.T) {
	jobsOf := func(t *testing.T, rows []int, parts, n int, want []int, jobs ...[]int) {
		t.Helper()
		c, runner := inlineContext(t, Options{})
		same(t, "rows", must(Parallelize(c, rows, parts).Take(t.Context(), n)), want)
		var got [][]int
		for _, j := range runner.ran() {
			got = append(got, j.parts)
		}
		same(t, "jobs", got, jobs)
	}
	t.Run("C05 two jobs", func(t *testing.T) {
		jobsOf(t, upTo(1000), 100, 35, upTo(35), []int{0}, []int{1, 2, 3, 4})
	})
	t.Run("C06 three jobs", func(t *testing.T) {
		c, runner := inlineContext(t, Options{})
		r := Parallelize(c, upTo(50), 10).Filter(func(x int) bool { return x > 45 })
		same(t, "rows", must(r.Take(t.Context(), 1)), []int{46})
		same(t, "jobs", partsOfJobs(runner), [][]int{{0}, {1, 2, 3, 4}, {5, 6, 7, 8, 9}})
	})
	t.Run("C07 none wanted, no job", func(t *testing.T) {
		jobsOf(t, upTo(5), 2, 0, []int{})
		jobsOf(t, upTo(5), 2, -3, []int{})
	})
	t.Run("more than there are", func(t *testing.T) {
		jobsOf(t, upTo(5), 2, 9, upTo(5), []int{0}, []int{1})
	})
	t.Run("long partitions stop early", func(t *testing.T) {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			r := Range(c, 0, 100_000, 1, 4)
			got := must(r.Take(t.Context(), 3000))
			if len(got) != 3000 || got[2999] != 2999 {
				t.Errorf("%d rows, last %v", len(got), got[len(got)-1])
			}
			first, err := r.First(t.Context())
			if first != 0 || err != nil {
				t.Errorf("first %d, %v", first, err)
			}
		})
	})
	t.Run("nothing there", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		_, err := Empty[int](c).First(t.Context())
		wantErr(t, "first", err, ErrEmpty)
		if empty := must(Empty[int](c).IsEmpty(t.Context())); !empty {
			t.Error("an RDD without partitions is not empty")
		}
	})
}

func partsOfJobs(r *inlineRunner) [][]int {
	var parts [][]int
	for _, j := range r.ran() {
		parts = append(parts, j.parts)
	}
	return parts
}

// A record behind those that are taken may fail without Take meeting it, also in the same chunk.
func TestTakeEndsBeforeALaterFailure(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		rows := Parallelize(c, []int{1, 2, 3, 4, 5, 6}, 1)
		fail := func(x int) int {
			if x == 6 {
				panic("six")
			}
			return x
		}
		for name, r := range map[string]*RDD[int]{
			"map": Map(rows, fail),
			"tryMap": TryMap(rows, func(x int) (int, error) {
				if x == 6 {
					return 0, errors.New("six")
				}
				return x, nil
			}),
			"filter": rows.Filter(func(x int) bool { return fail(x) > 0 }),
		} {
			got, err := r.Take(t.Context(), 3)
			if err != nil || !slices.Equal(got, []int{1, 2, 3}) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if _, err := r.Take(t.Context(), 6); err == nil {
				t.Errorf("%s: no error from a Take that reaches the failure", name)
			}
		}
	})
}

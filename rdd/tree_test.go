package rdd

import (
	"context"
	"errors"
	"testing"

	"github.com/leat-io/leat/lineage"
)

// deepRunner notes how many stages each job has.
type deepRunner struct {
	*inlineRunner
	widths [][]int // per job, the partitions of its stages
}

func (r *deepRunner) Run(ctx context.Context, job lineage.Job) error {
	var widths []int
	for _, s := range lineage.Cut(job.Final) {
		n, err := s.Final.NumPartitions()
		if err != nil {
			return err
		}
		widths = append(widths, n)
	}
	r.widths = append(r.widths, widths)
	return r.inlineRunner.Run(ctx, job)
}

func TestTreeAggregate(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, parts := range []int{1, 2, 9, 40} {
			for depth := 1; depth < 5; depth++ {
				r := Parallelize(c, upTo(100), parts)
				same(t, "sum", must(TreeAggregate(t.Context(), r, 0, add[int], add[int], depth)), 5050)
				same(t, "reduced", must(TreeReduce(t.Context(), r, add[int], depth)), 5050)
			}
		}
		t.Run("G10 accumulators may be changed in place", func(t *testing.T) {
			count := func(acc map[int]int, x int) map[int]int { acc[x%3]++; return acc }
			join := func(acc, other map[int]int) map[int]int {
				for k, n := range other {
					acc[k] += n
				}
				return acc
			}
			zero := map[int]int{}
			r := Parallelize(c, upTo(30), 16)
			for range 2 {
				same(t, "counts", must(TreeAggregate(t.Context(), r, zero, count, join, 2)), map[int]int{0: 10, 1: 10, 2: 10})
			}
			same(t, "zero", zero, map[int]int{})
		})
		t.Run("empty partitions add nothing", func(t *testing.T) {
			r := Parallelize(c, []int{7}, 20)
			same(t, "reduced", must(TreeReduce(t.Context(), r, add[int], 2)), 7)
			_, err := TreeReduce(t.Context(), r.Filter(func(int) bool { return false }), add[int], 2)
			wantErr(t, "nothing", err, ErrEmpty)
		})
		t.Run("a function that fails is named", func(t *testing.T) {
			_, err := TreeReduce(t.Context(), Parallelize(c, upTo(40), 20), func(int, int) int { panic("boom") }, 2)
			var user *UserError
			if !errors.As(err, &user) || user.Op != "treeReduce" {
				t.Errorf("error %v", err)
			}
		})
	})
	t.Run("each step is a shuffle into fewer partitions", func(t *testing.T) {
		for _, want := range []struct {
			parts, depth int
			stages       []int
		}{{16, 2, []int{16, 4}}, {16, 3, []int{16, 5}}, {4, 2, []int{4}}, {100, 1, []int{100}}, {64, 3, []int{64, 16, 4}}} {
			r := &deepRunner{inlineRunner: newInlineRunner(false)}
			c := newTestContext(t, r, Options{})
			in := Parallelize(c, upTo(200), want.parts)
			same(t, "sum", must(TreeAggregate(t.Context(), in, 0, add[int], add[int], want.depth)), 20100)
			same(t, "stages", r.widths, [][]int{want.stages})
		}
	})
	t.Run("a depth below 1 is refused, no partitions are no job", func(t *testing.T) {
		c, runner := inlineContext(t, Options{})
		_, err := TreeReduce(t.Context(), Parallelize(c, upTo(3), 3), add[int], 0)
		wantErr(t, "depth", err, ErrArgument)
		_, err = TreeReduce(t.Context(), Empty[int](c), add[int], 2)
		wantErr(t, "empty", err, ErrEmpty)
		same(t, "zero", must(TreeAggregate(t.Context(), Empty[int](c), 4, add[int], add[int], 2)), 4)
		_, err = TreeReduce(t.Context(), Empty[int](c), nil, 2)
		wantErr(t, "nil", err, ErrNilFunction)
		same(t, "jobs", jobsOf(runner), nil)
	})
}

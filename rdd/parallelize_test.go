package rdd

import (
	"math"
	"testing"
)

func TestParallelize(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		t.Run("C01 slices by position", func(t *testing.T) {
			same(t, "ten in three", partsOf(t, Parallelize(c, upTo(10), 3)), [][]int{{1, 2, 3}, {4, 5, 6}, {7, 8, 9, 10}})
			same(t, "two in four", collect(t, Glom(Parallelize(c, upTo(2), 4))), [][]int{{}, {1}, {}, {2}})
		})
		t.Run("rows changed afterwards are not seen", func(t *testing.T) {
			rows := [][]int{{1}, {2}}
			r := Parallelize(c, rows, 2)
			rows[0][0], rows[1] = 7, nil
			same(t, "rows", collect(t, r), [][]int{{1}, {2}})
		})
		t.Run("empty partitions and none", func(t *testing.T) {
			for _, n := range []int{1, 2, 7} {
				same(t, "no rows", collect(t, Parallelize(c, []int(nil), n)), []int{})
			}
			same(t, "no partitions", collect(t, Map(Empty[int](c), func(x int) int { return x })), []int{})
		})
	})
	c, _ := inlineContext(t, Options{})
	for _, n := range []int{0, -1} {
		_, err := Parallelize(c, []int{1}, n).Collect(t.Context())
		wantErr(t, "partitions", err, ErrArgument)
	}
}

func TestRange(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	for _, n := range []int{1, 2, 7} {
		same(t, "up", collect(t, Range(c, 0, 10, 3, n)), []int64{0, 3, 6, 9})
		same(t, "down", collect(t, Range(c, 3, 0, -1, n)), []int64{3, 2, 1})
		same(t, "wrong way", collect(t, Range(c, 0, 10, -1, n)), []int64{})
		same(t, "end exclusive", collect(t, Range(c, 5, 5, 1, n)), []int64{})
	}
	same(t, "slices as Parallelize", partsOf(t, Range(c, 1, 11, 1, 3)), [][]int64{{1, 2, 3}, {4, 5, 6}, {7, 8, 9, 10}})
	same(t, "whole width", collect(t, Range(c, math.MinInt64, math.MaxInt64, math.MaxInt64, 2)), []int64{math.MinInt64, -1, math.MaxInt64 - 1})
	same(t, "one giant step down", collect(t, Range(c, 1, math.MinInt64, math.MinInt64, 1)), []int64{1, math.MinInt64 + 1})
	if n, err := Range(c, 0, 5000, 1, 3).Count(t.Context()); n != 5000 || err != nil {
		t.Errorf("count %d, %v; want 5000", n, err)
	}
	_, err := Range(c, 0, 1, 0, 1).Collect(t.Context())
	wantErr(t, "step 0", err, ErrArgument)
	_, err = Range(c, 0, 1, 1, 0).Collect(t.Context())
	wantErr(t, "no partitions", err, ErrArgument)
}

// The slices of the largest ranges cover them without a gap or an overlap.
func TestBigSlice(t *testing.T) {
	for _, size := range []uint64{0, 1, 10, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64} {
		for _, n := range []uint64{1, 2, 7, 1000} {
			var at uint64
			for i := range n {
				from, to := bigSlice(size, n, i)
				if from != at || to < from {
					t.Fatalf("slice %d of %d over %d is [%d, %d), want it to begin at %d", i, n, size, from, to, at)
				}
				at = to
			}
			if at != size {
				t.Errorf("%d slices over %d end at %d", n, size, at)
			}
		}
	}
}

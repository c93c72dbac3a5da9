package rdd

import (
	"math"
	"testing"
)

func TestReduce(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, n := range []int{1, 2, 7} {
			if got := must(Parallelize(c, upTo(5), n).Reduce(t.Context(), add[int])); got != 15 {
				t.Errorf("%d partitions: %d, want 15", n, got)
			}
		}
		// Partials join in partition order: a function that is only associative gives one answer.
		text := Map(Range(c, 0, 10, 1, 4), func(x int64) string { return string(rune('a' + x)) })
		for range 5 {
			if got := must(text.Reduce(t.Context(), add[string])); got != "abcdefghij" {
				t.Errorf("joined to %s", got)
			}
		}
		_, err := Empty[int](c).Reduce(t.Context(), add[int])
		wantErr(t, "no partitions", err, ErrEmpty)
		lists := Parallelize(c, [][]int{{1}, {2}, {3}}, 2)
		for range 2 { // f changes its first argument; the source stays
			got := must(lists.Reduce(t.Context(), func(a, b []int) []int { a[0] += b[0]; return a }))
			same(t, "reduced in place", got, []int{6})
		}
	})
}

func TestFold(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		t.Run("C04 zero enters once a partition and once more", func(t *testing.T) {
			if got := must(Parallelize(c, upTo(4), 2).Fold(t.Context(), 10, add[int])); got != 40 {
				t.Errorf("%d, want 40", got)
			}
			if got := must(Empty[int](c).Fold(t.Context(), 10, add[int])); got != 10 {
				t.Errorf("%d, want 10", got)
			}
		})
		t.Run("zero is copied", func(t *testing.T) {
			zero := []int{0}
			for range 2 {
				got := must(Aggregate(t.Context(), Parallelize(c, upTo(4), 2), zero,
					func(a []int, x int) []int { a[0] += x; return a },
					func(a, b []int) []int { a[0] += b[0]; return a }))
				same(t, "sum", got, []int{10})
			}
			same(t, "zero", zero, []int{0})
		})
	})
}

func TestForeach(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	var got []int
	if err := Parallelize(c, upTo(5), 3).Foreach(t.Context(), func(x int) { got = append(got, x) }); err != nil {
		t.Fatal(err)
	}
	same(t, "seen", got, upTo(5))
}

func TestCompare(t *testing.T) {
	nan := math.NaN()
	for _, x := range []struct {
		a, b float64
		want int
	}{{1, 2, -1}, {2, 1, 1}, {1, 1, 0}, {nan, math.Inf(1), 1}, {math.Inf(-1), nan, -1}, {nan, nan, 0}, {0, math.Copysign(0, -1), 0}} {
		if got := Compare(x.a, x.b); got != x.want {
			t.Errorf("Compare(%v, %v) is %d, want %d", x.a, x.b, got, x.want)
		}
	}
}

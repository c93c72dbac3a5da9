package rdd

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortByKey(t *testing.T) {
	pairs := func(keys ...int) []Pair[int, int] {
		rows := make([]Pair[int, int], len(keys))
		for i, k := range keys {
			rows[i] = kv(k, i)
		}
		return rows
	}
	keysOf := func(parts [][]Pair[int, int]) [][]int {
		keys := make([][]int, len(parts))
		for i, p := range parts {
			for _, x := range p {
				keys[i] = append(keys[i], x.Key)
			}
		}
		return keys
	}
	boundsOf := func(r *RDD[Pair[int, int]]) []int { return r.Partitioner().(*RangePartitioner[int]).Bounds() }
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		ctx := t.Context()
		t.Run("C12", func(t *testing.T) {
			r := must(SortByKey(ctx, Parallelize(c, []Pair[int, string]{kv(3, "a"), kv(1, "b")}, 2)))
			same(t, "rows", partsOf(t, r), [][]Pair[int, string]{{kv(1, "b")}, {kv(3, "a")}})
			same(t, "bounds", r.Partitioner().(*RangePartitioner[int]).Bounds(), []int{1})
		})
		t.Run("C13", func(t *testing.T) {
			in := Parallelize(c, pairs(5, 1, 4, 2, 3, 6), 2)
			up, down := must(SortByKey(ctx, in, SortPartitions(3))), must(SortByKey(ctx, in, SortPartitions(3), Descending()))
			same(t, "ascending", keysOf(partsOf(t, up)), [][]int{{1, 2}, {3, 4}, {5, 6}})
			same(t, "descending", keysOf(partsOf(t, down)), [][]int{{6, 5}, {4, 3}, {2, 1}})
			same(t, "bounds", boundsOf(up), []int{2, 4})
			same(t, "bounds", boundsOf(down), []int{2, 4})
		})
		t.Run("C14", func(t *testing.T) {
			r := must(SortByKey(ctx, Parallelize(c, pairs(1, 1, 1, 1), 2), SortPartitions(4)))
			same(t, "rows", partsOf(t, r), [][]Pair[int, int]{pairs(1, 1, 1, 1), nil})
		})
		t.Run("P4 fewer partitions than asked", func(t *testing.T) {
			if n := sizeOf(t, must(SortByKey(ctx, Parallelize(c, pairs(9, 3), 2), SortPartitions(5)))); n != 2 {
				t.Errorf("two rows into five give %d partitions, want 2", n)
			}
			if n := sizeOf(t, must(SortByKey(ctx, Parallelize(c, pairs(upTo(10)...), 3), SortPartitions(15)))); n != 10 {
				t.Errorf("ten rows into fifteen give %d partitions, want 10", n)
			}
		})
		t.Run("P3 no partitions give one", func(t *testing.T) {
			same(t, "rows", partsOf(t, must(SortByKey(ctx, Empty[Pair[int, int]](c)))), [][]Pair[int, int]{nil})
		})
		t.Run("equal keys stay in their order", func(t *testing.T) {
			var rows []Pair[int, int]
			random := rand.New(rand.NewPCG(1, 2))
			for i := range 4000 {
				rows = append(rows, kv(random.IntN(50), i))
			}
			for _, n := range []int{1, 2, 7} {
				want := slices.Clone(rows)
				slices.SortStableFunc(want, func(a, b Pair[int, int]) int { return cmp.Compare(a.Key, b.Key) })
				same(t, "ascending", collect(t, must(SortByKey(ctx, Parallelize(c, rows, 3), SortPartitions(n)))), want)
				slices.SortStableFunc(want, func(a, b Pair[int, int]) int { return cmp.Compare(b.Key, a.Key) })
				slices.SortStableFunc(want, func(a, b Pair[int, int]) int {
					if a.Key == b.Key {
						return a.Value - b.Value
					}
					return 0
				})
				same(t, "descending", collect(t, must(SortByKey(ctx, Parallelize(c, rows, 3), SortPartitions(n), Descending()))), want)
			}
		})
	})
}

func TestSortBy(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		nan, inf := math.NaN(), math.Inf(1)
		t.Run("G6 NaN last", func(t *testing.T) {
			rows := []float64{nan, 1, inf, nan, -inf, 0}
			got := collect(t, must(SortBy(t.Context(), Parallelize(c, rows, 3), func(x float64) float64 { return x })))
			want := []float64{-inf, 0, 1, inf}
			same(t, "numbers", got[:4], want)
			if !math.IsNaN(got[4]) || !math.IsNaN(got[5]) {
				t.Errorf("sorted to %v", got)
			}
			down := collect(t, must(SortBy(t.Context(), Parallelize(c, rows, 3), func(x float64) float64 { return x }, Descending())))
			if !math.IsNaN(down[0]) || !math.IsNaN(down[1]) || down[5] != -inf {
				t.Errorf("sorted down to %v", down)
			}
		})
		t.Run("an order of its own", func(t *testing.T) {
			got := collect(t, must(SortByFunc(t.Context(), Parallelize(c, upTo(9), 4), func(x int) int { return x },
				func(a, b int) int { return cmp.Or(cmp.Compare(a%3, b%3), cmp.Compare(a, b)) })))
			same(t, "rows", got, []int{3, 6, 9, 1, 4, 7, 2, 5, 8})
		})
		t.Run("one large partition is sampled again", func(t *testing.T) {
			var rows [][]int
			rows = append(rows, upTo(20000))
			for range 9 {
				rows = append(rows, []int{1})
			}
			in := FlatMap(Parallelize(c, rows, 10), func(x []int) []int { return x })
			r := must(SortBy(t.Context(), in, func(x int) int { return -x }, SortPartitions(4)))
			for i, p := range partsOf(t, r) {
				if len(p) < 2500 {
					t.Errorf("partition %d holds %d of 20009 rows", i, len(p))
				}
			}
		})
	})
	c, runner := inlineContext(t, Options{})
	r := Parallelize(c, upTo(4), 2)
	must(SortBy(t.Context(), r, func(x int) int { return x }, SortPartitions(1)))
	if jobs := runner.ran(); len(jobs) != 0 {
		t.Errorf("sorting into one partition ran %v", jobs)
	}
	must(SortBy(t.Context(), r, func(x int) int { return x }))
	if jobs := runner.ran(); len(jobs) != 1 {
		t.Errorf("C12 sorting ran %v before, want one sampling job", jobs)
	}
	_, err := SortBy(t.Context(), r, (func(int) int)(nil))
	wantErr(t, "nil key", err, ErrNilFunction)
	_, err = SortBy(t.Context(), r, func(x int) int { return x }, SortPartitions(-1))
	wantErr(t, "negative partitions", err, ErrArgument)
}

// P4: the same RDD gives the same bounds every time.
func TestSortBoundsRepeat(t *testing.T) {
	bounds := func() []int64 {
		c, _ := inlineContext(t, Options{})
		in := Map(Range(c, 0, 50000, 1, 4), func(x int64) Pair[int64, int] { return kv(x*7919%50021, 0) })
		r := must(SortByKey(t.Context(), in, SortPartitions(6)))
		return r.Partitioner().(*RangePartitioner[int64]).Bounds()
	}
	same(t, "bounds", bounds(), bounds())
}

package rdd

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTakeOrdered(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, []int{4, 9, 1, 9, 3}, 3)
		same(t, "smallest", must(TakeOrdered(t.Context(), r, 3)), []int{1, 3, 4})
		same(t, "largest", must(Top(t.Context(), r, 2)), []int{9, 9})
		same(t, "more than there are", must(Top(t.Context(), r, 9)), []int{9, 9, 4, 3, 1})
		many := Map(Range(c, 0, 50_000, 1, 2), func(x int64) int64 { return x * 7919 % 50_000 })
		same(t, "of many", must(TakeOrdered(t.Context(), many, 5)), []int64{0, 1, 2, 3, 4})
		same(t, "of many", must(Top(t.Context(), many, 3)), []int64{49_999, 49_998, 49_997})
		_, err := TopFunc(t.Context(), r, 1, func(a, b int) int { panic("no order") })
		var user *UserError
		if !errors.As(err, &user) {
			t.Errorf("a comparison that panics: %v", err)
		}
	})
	c, runner := inlineContext(t, Options{})
	r := Parallelize(c, []int{4, 9, 1}, 2)
	t.Run("C07 nothing asked for runs no job", func(t *testing.T) {
		same(t, "none", must(TakeOrdered(t.Context(), r, 0)), []int{})
		same(t, "no partitions", must(Top(t.Context(), Empty[int](c), 2)), []int{})
		same(t, "jobs", jobsOf(runner), nil)
	})
	t.Run("a negative count is refused", func(t *testing.T) {
		for _, n := range []int{-1, math.MinInt} {
			_, err := Top(t.Context(), r, n)
			wantErr(t, "top", err, ErrArgument)
			_, err = TakeOrdered(t.Context(), r, n)
			wantErr(t, "takeOrdered", err, ErrArgument)
		}
		same(t, "the largest count", must(TakeOrdered(t.Context(), r, math.MaxInt)), []int{1, 4, 9})
	})
	t.Run("equal records come as in the partitions", func(t *testing.T) {
		pairs := Parallelize(c, []Pair[int, int]{kv(1, 0), kv(0, 1), kv(1, 2), kv(0, 3)}, 3)
		byKey := func(a, b Pair[int, int]) int { return cmp.Compare(a.Key, b.Key) }
		same(t, "first", must(TakeOrderedFunc(t.Context(), pairs, 3, byKey)), []Pair[int, int]{kv(0, 1), kv(0, 3), kv(1, 0)})
	})
}

func TestMaxMin(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		t.Run("G6 NaN is above everything", func(t *testing.T) {
			r := Parallelize(c, []float64{math.Inf(1), math.NaN(), -3, math.Inf(-1)}, 3)
			if x := must(Max(t.Context(), r)); !math.IsNaN(x) {
				t.Errorf("max %v, want NaN", x)
			}
			same(t, "min", must(Min(t.Context(), r)), math.Inf(-1))
			top := must(Top(t.Context(), r, 2))
			if !math.IsNaN(top[0]) || top[1] != math.Inf(1) {
				t.Errorf("top %v, want NaN and +Inf", top)
			}
		})
		t.Run("C03 nothing has no bounds", func(t *testing.T) {
			r := Parallelize(c, upTo(3), 3).Filter(func(x int) bool { return x > 9 })
			_, err := Max(t.Context(), r)
			wantErr(t, "max", err, ErrEmpty)
			_, err = Min(t.Context(), r)
			wantErr(t, "min", err, ErrEmpty)
			same(t, "sum", must(Sum(t.Context(), r)), 0)
		})
		t.Run("of equal records the first", func(t *testing.T) {
			r := Parallelize(c, []Pair[int, int]{kv(1, 0), kv(2, 1), kv(2, 2), kv(1, 3)}, 2)
			byKey := func(a, b Pair[int, int]) int { return cmp.Compare(a.Key, b.Key) }
			same(t, "max", must(MaxFunc(t.Context(), r, byKey)), kv(2, 1))
			same(t, "min", must(MinFunc(t.Context(), r, byKey)), kv(1, 0))
		})
	})
}

func TestRepartitionAndSortWithinPartitions(t *testing.T) {
	rows := []Pair[int, int]{kv(0, 5), kv(3, 8), kv(2, 6), kv(0, 8), kv(3, 8), kv(1, 3)}
	mod2 := Partitioner[int](Hash[int](2))
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		t.Run("C21 sorted by key within partitions", func(t *testing.T) {
			r := RepartitionAndSortWithinPartitions(Parallelize(c, rows, 2), mod2)
			same(t, "pairs", partsOf(t, r), [][]Pair[int, int]{{kv(0, 5), kv(0, 8), kv(2, 6)}, {kv(1, 3), kv(3, 8), kv(3, 8)}})
			if p := r.Partitioner(); p == nil || !p.Equal(mod2) {
				t.Errorf("partitioner %v", p)
			}
		})
		t.Run("no shuffle where the pairs lie right", func(t *testing.T) {
			r := RepartitionAndSortWithinPartitions(PartitionBy(Parallelize(c, rows, 2), mod2), mod2)
			if r.Node().Deps()[0].Shuffle != nil {
				t.Error("shuffled again")
			}
			same(t, "first partition", partsOf(t, r)[0], []Pair[int, int]{kv(0, 5), kv(0, 8), kv(2, 6)})
		})
	})
	c, _ := inlineContext(t, Options{})
	_, err := RepartitionAndSortWithinPartitions(Parallelize(c, rows, 2), nil).Count(t.Context())
	wantErr(t, "nil partitioner", err, ErrPartitioner)
}

func TestFilterByRange(t *testing.T) {
	c, runner := inlineContext(t, Options{})
	var rows []Pair[int, int]
	for _, k := range []int{5, 1, 4, 2, 3, 6, 9, 7, 8, 0} {
		rows = append(rows, kv(k, -k))
	}
	plain := Parallelize(c, rows, 3)
	t.Run("both ends are in", func(t *testing.T) {
		same(t, "keys", collect(t, Keys(FilterByRange(plain, 3, 5))), []int{5, 4, 3})
		same(t, "nothing between", collect(t, Keys(FilterByRange(plain, 5, 3))), []int{})
	})
	for name, opts := range map[string][]SortOption{"ascending": {SortPartitions(5)}, "descending": {SortPartitions(5), Descending()}} {
		t.Run("only the partitions that overlap get tasks/"+name, func(t *testing.T) {
			sorted, err := SortByKey(t.Context(), plain, opts...)
			if err != nil {
				t.Fatal(err)
			}
			runner.ran()
			r := FilterByRange(sorted, 3, 5)
			got := collect(t, Keys(r))
			if slices.Sort(got); !slices.Equal(got, []int{3, 4, 5}) || r.Partitioner() != nil {
				t.Errorf("keys %v, partitioner %v", got, r.Partitioner())
			}
			if jobs := runner.ran(); len(jobs) != 1 || len(jobs[0].parts) != 2 {
				t.Errorf("jobs %v, want one with 2 tasks", jobs)
			}
		})
	}
	rapid.Check(t, func(rt *rapid.T) {
		lo, hi := rapid.IntRange(-2, 12).Draw(rt, "lo"), rapid.IntRange(-2, 12).Draw(rt, "hi")
		sorted := must(SortByKey(t.Context(), plain, SortPartitions(rapid.IntRange(1, 6).Draw(rt, "n"))))
		var want []int
		for k := max(lo, 0); k <= min(hi, 9); k++ {
			want = append(want, k)
		}
		if got := collect(t, Keys(FilterByRange(sorted, lo, hi))); !slices.Equal(got, want) {
			rt.Errorf("keys from %d to %d: %v", lo, hi, got)
		}
	})
}

func TestLookup(t *testing.T) {
	rows := []Pair[int, string]{kv(1, "a"), kv(2, "b"), kv(1, "c"), kv(4, "d")}
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, rows, 3)
		for _, in := range []*RDD[Pair[int, string]]{r, PartitionBy(r, Partitioner[int](Hash[int](3)))} {
			same(t, "values", must(Lookup(t.Context(), in, 1)), []string{"a", "c"})
			same(t, "absent", must(Lookup(t.Context(), in, 7)), []string{})
		}
		same(t, "no partitions", must(Lookup(t.Context(), Empty[Pair[int, int]](c), 1)), []int{})
		nan := Parallelize(c, []Pair[float64, int]{kv(math.NaN(), 1), kv(0.0, 2)}, 2)
		same(t, "G3 NaN", must(Lookup(t.Context(), nan, math.NaN())), []int{1})
		same(t, "G3 zero", must(Lookup(t.Context(), nan, math.Copysign(0, -1))), []int{2})
	})
	c, runner := inlineContext(t, Options{})
	p := PartitionBy(Parallelize(c, rows, 3), Partitioner[int](Hash[int](3)))
	must(Lookup(t.Context(), p, 4))
	same(t, "one task with a partitioner", jobsOf(runner), []string{"lookup[1]"})
	wild := PartitionBy(Parallelize(c, rows, 3), PartitionFunc("wild", 2, func(int) int { return 5 }))
	_, err := Lookup(t.Context(), wild, 4)
	wantErr(t, "P1 answer out of range", err, ErrPartitioner)
	same(t, "no job then", jobsOf(runner), nil)
	_, err = Lookup[any, int](t.Context(), Empty[Pair[any, int]](c), []int{1})
	if err == nil {
		t.Error("a slice was looked up as a key")
	}
}

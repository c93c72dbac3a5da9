package rdd

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSubtractByKey(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		a := Parallelize(c, []Pair[int, string]{kv(1, "a"), kv(1, "a"), kv(2, "b"), kv(3, "c")}, 2)
		b := Parallelize(c, []Pair[int, bool]{kv(2, true), kv(3, true), kv(4, true)}, 4)
		t.Run("C18 duplicates stay, as many partitions as the left side", func(t *testing.T) {
			r := SubtractByKey(a, b)
			same(t, "pairs", partsOf(t, r), [][]Pair[int, string]{nil, {kv(1, "a"), kv(1, "a")}})
			if p := r.Partitioner(); p == nil || !p.Equal(Hash[int](2)) {
				t.Errorf("partitioner %v, want hash:2", p)
			}
		})
		t.Run("a side that lies right is not shuffled", func(t *testing.T) {
			p := PartitionBy(a, Partitioner[int](Hash[int](3)))
			deps := SubtractByKey(p, b).Node().Deps()
			if deps[0].Shuffle != nil || deps[1].Shuffle == nil {
				t.Errorf("shuffles %t, %t, want none on the left", deps[0].Shuffle != nil, deps[1].Shuffle != nil)
			}
			same(t, "pairs", collect(t, SubtractByKey(p, b)), []Pair[int, string]{kv(1, "a"), kv(1, "a")})
		})
		t.Run("G3 NaN is one key", func(t *testing.T) {
			nan := Parallelize(c, []Pair[float64, int]{kv(math.NaN(), 1), kv(1.0, 2)}, 1)
			same(t, "pairs", collect(t, SubtractByKey(nan, nan)), []Pair[float64, int]{})
		})
		t.Run("G8 the left side's order is kept", func(t *testing.T) {
			var rows []Pair[int, int]
			for i := range 3000 {
				rows = append(rows, kv(i*7%3000, i))
			}
			r := SubtractByKey(Parallelize(c, rows, 3), Parallelize(c, []Pair[int, int]{kv(0, 0), kv(8, 0)}, 1), NumPartitions(1))
			want := slices.DeleteFunc(slices.Clone(rows), func(p Pair[int, int]) bool { return p.Key == 0 || p.Key == 8 })
			same(t, "pairs", collect(t, r), want)
		})
	})
}

// TestSets compares the set operations with plain loops over the same records.
func TestSets(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		t.Run("C18 intersection has no duplicates", func(t *testing.T) {
			r := Intersection(Parallelize(c, []int{1, 2, 3, 3}, 2), Parallelize(c, []int{1, 1, 2, 3}, 3))
			same(t, "records", partsOf(t, r), [][]int{{3}, {1}, {2}})
			if r.Partitioner() != nil {
				t.Errorf("partitioner %s, want none", r.Partitioner())
			}
		})
		t.Run("subtract loses the partitioner", func(t *testing.T) {
			p := PartitionBy(Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 2)}, 2), Partitioner[int](Hash[int](3)))
			r := Subtract(p, Parallelize(c, []Pair[int, int]{kv(2, 2)}, 1))
			same(t, "records", collect(t, r), []Pair[int, int]{kv(1, 1)})
			if r.Partitioner() != nil || sizeOf(t, r) != 3 {
				t.Errorf("partitioner %v, %d partitions", r.Partitioner(), sizeOf(t, r))
			}
		})
	})
	rapid.Check(t, func(rt *rapid.T) {
		few := rapid.SliceOfN(rapid.IntRange(-5, 5), 0, 20)
		a, b := few.Draw(rt, "a"), few.Draw(rt, "b")
		parts, out := rapid.IntRange(1, 4).Draw(rt, "parts"), rapid.IntRange(1, 4).Draw(rt, "out")
		c, _ := inlineContext(t, Options{})
		ra, rb := Parallelize(c, a, parts), Parallelize(c, b, 2)
		var both, only []int
		for _, x := range a {
			if !slices.Contains(b, x) {
				only = append(only, x)
			} else if !slices.Contains(both, x) {
				both = append(both, x)
			}
		}
		slices.Sort(both)
		slices.Sort(only)
		got := slices.Sorted(slices.Values(collect(t, Intersection(ra, rb, NumPartitions(out)))))
		if !slices.Equal(got, both) {
			rt.Errorf("intersection %v, want %v", got, both)
		}
		got = slices.Sorted(slices.Values(collect(t, Subtract(ra, rb, NumPartitions(out)))))
		if !slices.Equal(got, only) {
			rt.Errorf("subtract %v, want %v", got, only)
		}
	})
}

func TestCoGroupOfMany(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		a := Parallelize(c, []Pair[int, int]{kv(1, 1)}, 1)
		b := Parallelize(c, []Pair[int, string]{kv(2, "x"), kv(1, "y")}, 2)
		d := Parallelize(c, []Pair[int, bool]{kv(3, true), kv(1, false), kv(3, false)}, 1)
		t.Run("three", func(t *testing.T) {
			r := CoGroup3(a, b, d, NumPartitions(1))
			same(t, "groups", collect(t, r), []Pair[int, CoGrouped3[int, string, bool]]{
				kv(1, CoGrouped3[int, string, bool]{[]int{1}, []string{"y"}, []bool{false}}),
				kv(2, CoGrouped3[int, string, bool]{[]int{}, []string{"x"}, []bool{}}),
				kv(3, CoGrouped3[int, string, bool]{[]int{}, []string{}, []bool{true, false}}),
			})
			same(t, "default partitions", sizeOf(t, CoGroup3(a, b, d)), 2)
		})
		t.Run("four", func(t *testing.T) {
			r := CoGroup4(a, b, d, a, NumPartitions(1))
			same(t, "groups", collect(t, r)[:2], []Pair[int, CoGrouped4[int, string, bool, int]]{
				kv(1, CoGrouped4[int, string, bool, int]{[]int{1}, []string{"y"}, []bool{false}, []int{1}}),
				kv(2, CoGrouped4[int, string, bool, int]{[]int{}, []string{"x"}, []bool{}, []int{}}),
			})
			same(t, "dependencies", len(r.Node().Deps()), 4)
			bad := CoGroup4(a, b, d, a, NumPartitions(-1))
			_, err := bad.Count(t.Context())
			wantErr(t, "negative", err, ErrArgument)
		})
		t.Run("inputs that lie right are not shuffled", func(t *testing.T) {
			p := PartitionBy(a, Partitioner[int](Hash[int](2)))
			for i, dep := range CoGroup3(p, b, p).Node().Deps() {
				if (dep.Shuffle != nil) != (i == 1) {
					t.Errorf("input %d shuffled: %t", i, dep.Shuffle != nil)
				}
			}
		})
	})
}

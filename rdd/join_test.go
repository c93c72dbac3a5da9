package rdd

import (
	"slices"
	"testing"

	"github.com/leat-io/leat/rdd/keyed"
)

func TestJoin(t *testing.T) {
	some, none := keyed.Some[string], keyed.None[string]
	someInt, noInt := keyed.Some[int], keyed.None[int]
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, n := range []int{1, 2, 7} {
			a := Parallelize(c, []Pair[int, int]{kv(1, 1), kv(1, 2), kv(2, 1), kv(3, 1)}, n)
			b := Parallelize(c, []Pair[int, string]{kv(1, "x"), kv(2, "y"), kv(2, "z"), kv(4, "w")}, n)
			t.Run("C16", func(t *testing.T) {
				same(t, "join", byKey(collect(t, Join(a, b))), []Pair[int, Joined[int, string]]{
					kv(1, Joined[int, string]{1, "x"}), kv(1, Joined[int, string]{2, "x"}),
					kv(2, Joined[int, string]{1, "y"}), kv(2, Joined[int, string]{1, "z"})})
				same(t, "left", byKey(collect(t, LeftOuterJoin(a, b))), []Pair[int, Joined[int, Option[string]]]{
					kv(1, Joined[int, Option[string]]{1, some("x")}), kv(1, Joined[int, Option[string]]{2, some("x")}),
					kv(2, Joined[int, Option[string]]{1, some("y")}), kv(2, Joined[int, Option[string]]{1, some("z")}),
					kv(3, Joined[int, Option[string]]{1, none()})})
				same(t, "right", byKey(collect(t, RightOuterJoin(a, b))), []Pair[int, Joined[Option[int], string]]{
					kv(1, Joined[Option[int], string]{someInt(1), "x"}), kv(1, Joined[Option[int], string]{someInt(2), "x"}),
					kv(2, Joined[Option[int], string]{someInt(1), "y"}), kv(2, Joined[Option[int], string]{someInt(1), "z"}),
					kv(4, Joined[Option[int], string]{noInt(), "w"})})
				full := byKey(collect(t, FullOuterJoin(a, b)))
				if len(full) != 6 || full[4].Value.Right != none() || full[5].Value.Left != noInt() {
					t.Errorf("full outer join: %v", full)
				}
				same(t, "cogroup", byKey(collect(t, CoGroup(a, b))), []Pair[int, CoGrouped[int, string]]{
					kv(1, CoGrouped[int, string]{[]int{1, 2}, []string{"x"}}), kv(2, CoGrouped[int, string]{[]int{1}, []string{"y", "z"}}),
					kv(3, CoGrouped[int, string]{[]int{1}, []string{}}), kv(4, CoGrouped[int, string]{[]int{}, []string{"w"}})})
			})
			t.Run("C17 against nothing", func(t *testing.T) {
				some := Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 2)}, n)
				for _, empty := range []*RDD[Pair[int, int]]{Empty[Pair[int, int]](c), Parallelize(c, []Pair[int, int]{}, 3)} {
					for op, got := range map[string][2]int{
						"join":    {len(collect(t, Join(some, empty))), 0},
						"right":   {len(collect(t, RightOuterJoin(some, empty))), 0},
						"left":    {len(collect(t, LeftOuterJoin(some, empty))), 2},
						"full":    {len(collect(t, FullOuterJoin(some, empty))), 2},
						"cogroup": {len(collect(t, CoGroup(some, empty))), 2},
						"union":   {len(collect(t, some.Union(empty))), 2},
					} {
						if got[0] != got[1] {
							t.Errorf("%s has %d rows, want %d", op, got[0], got[1])
						}
					}
				}
			})
		}
		t.Run("an input that lies right is read in place", func(t *testing.T) {
			a := PartitionBy(Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 2)}, 2), Hash[int](2))
			b := Parallelize(c, []Pair[int, int]{kv(1, 3)}, 2)
			g := CoGroup(a, b)
			if d := g.Deps(); d[0].Shuffle != nil || d[1].Shuffle == nil {
				t.Errorf("shuffles %v and %v, want the second only", d[0].Shuffle, d[1].Shuffle)
			}
			same(t, "join", collect(t, Join(a, b)), []Pair[int, Joined[int, int]]{kv(1, Joined[int, int]{1, 3})})
		})
	})
}

// byKey sorts pairs by key, those of one key as they are.
func byKey[V any](rows []Pair[int, V]) []Pair[int, V] {
	slices.SortStableFunc(rows, func(a, b Pair[int, V]) int { return a.Key - b.Key })
	return rows
}

func TestUnion(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		t.Run("C02 with itself", func(t *testing.T) {
			r := Parallelize(c, upTo(4), 2)
			same(t, "rows", partsOf(t, r.Union(r)), [][]int{{1, 2}, {3, 4}, {1, 2}, {3, 4}})
		})
		t.Run("inputs without partitions drop out", func(t *testing.T) {
			none := Empty[int](c)
			same(t, "rows", partsOf(t, UnionAll(c, none, Parallelize(c, upTo(2), 2), none, Parallelize(c, upTo(1), 1), none)), [][]int{{1}, {2}, {1}})
			same(t, "all dropped", partsOf(t, UnionAll(c, none, none)), [][]int{})
			same(t, "no inputs", partsOf(t, UnionAll[int](c)), [][]int{})
		})
		t.Run("a shared partitioner is kept", func(t *testing.T) {
			a := PartitionBy(Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 2)}, 2), Hash[int](2))
			b := PartitionBy(Parallelize(c, []Pair[int, int]{kv(2, 3), kv(3, 4)}, 3), Hash[int](2))
			u := UnionAll(c, a, Empty[Pair[int, int]](c), b)
			same(t, "rows", partsOf(t, u), [][]Pair[int, int]{{kv(2, 2), kv(2, 3)}, {kv(1, 1), kv(3, 4)}})
			sums := ReduceByKey(u, add[int])
			if sums.Deps()[0].Shuffle != nil {
				t.Error("reducing it shuffles")
			}
			same(t, "sums", partsOf(t, sums), [][]Pair[int, int]{{kv(2, 5)}, {kv(1, 1), kv(3, 4)}})
			if p := a.Union(Parallelize(c, []Pair[int, int]{kv(1, 1)}, 1)).Partitioner(); p != nil {
				t.Errorf("union with unplaced pairs has partitioner %s", p)
			}
		})
	})
}

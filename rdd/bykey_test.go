package rdd

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/leat-io/leat/rdd/keyed"
)

func TestReduceByKey(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		t.Run("C15 G4 integer keys go by floor modulus", func(t *testing.T) {
			r := Parallelize(c, []Pair[int, int]{kv(-1, 1), kv(-1, 2), kv(2, 1), kv(-1, 3)}, 2)
			same(t, "sums", partsOf(t, ReduceByKey(r, add[int], PartitionedBy(Hash[int](2)))), [][]Pair[int, int]{{kv(2, 1)}, {kv(-1, 6)}})
		})
		t.Run("any partitions, with and without combining", func(t *testing.T) {
			var rows []Pair[string, int]
			want := map[string]int{}
			for i := range 5000 {
				k := fmt.Sprintf("key-%d-of-some-length", i%300)
				rows = append(rows, kv(k, i))
				want[k] += i
			}
			for _, n := range []int{1, 2, 7} {
				for _, opts := range [][]KeyOption{{NumPartitions(n)}, {NumPartitions(n), WithoutMapSideCombine()}} {
					r := ReduceByKey(Parallelize(c, rows, 3), add[int], opts...)
					got := map[string]int{}
					for _, p := range collect(t, r) {
						if _, twice := got[p.Key]; twice {
							t.Errorf("key %s twice", p.Key)
						}
						got[p.Key] = p.Value
					}
					same(t, "sums", got, want)
					if sizeOf(t, r) != n {
						t.Errorf("%d partitions, want %d", sizeOf(t, r), n)
					}
				}
			}
		})
		t.Run("G8 keys in the order first seen", func(t *testing.T) {
			r := Parallelize(c, []Pair[string, int]{kv("z", 1), kv("a", 1), kv("z", 1), kv("m", 1), kv("a", 1)}, 2)
			same(t, "counts", collect(t, ReduceByKey(r, add[int], NumPartitions(1))), []Pair[string, int]{kv("z", 2), kv("a", 2), kv("m", 1)})
		})
		t.Run("G7 no partitions on either side", func(t *testing.T) {
			r := Parallelize(c, []Pair[int, int]{kv(1, 1)}, 2)
			same(t, "no reducers", collect(t, ReduceByKey(r, add[int], NumPartitions(0))), []Pair[int, int]{})
			same(t, "no reducers", collect(t, GroupByKey(r, NumPartitions(0))), []Pair[int, []int]{})
			none := Empty[Pair[int, int]](c)
			for name, nothing := range map[string]*RDD[Pair[int, int]]{
				"reduceByKey":          ReduceByKey(r, add[int], NumPartitions(0)),
				"partitionBy":          PartitionBy(r, Hash[int](0)),
				"subtractByKey":        SubtractByKey(none, r),
				"subtract":             Subtract(none, r),
				"cogroup":              FlatMap(CoGroup(r, r, NumPartitions(0)), func(Pair[int, CoGrouped[int, int]]) []Pair[int, int] { return nil }),
				"repartition and sort": RepartitionAndSortWithinPartitions(r, Hash[int](0)),
			} {
				same(t, name+" beside others", collect(t, nothing.Union(r)), []Pair[int, int]{kv(1, 1)})
			}
			sizes, err := MapOutputSizes(t.Context(), PartitionBy(r, Hash[int](0)), 0)
			if err != nil {
				t.Error(err)
			}
			same(t, "sizes for no reducers", sizes, [][]int64{nil, nil})
			same(t, "no parents", collect(t, ReduceByKey(none, add[int])), []Pair[int, int]{})
			same(t, "no parents, two reducers", partsOf(t, ReduceByKey(none, add[int], NumPartitions(2))), [][]Pair[int, int]{nil, nil})
		})
		t.Run("G3 NaN is one key and so is zero", func(t *testing.T) {
			nan := math.NaN()
			rows := []Pair[float64, int]{kv(nan, 1), kv(0.0, 1), kv(math.Copysign(0, -1), 1), kv(math.Float64frombits(math.Float64bits(nan)+1), 1)}
			got := collect(t, ReduceByKey(Parallelize(c, rows, 2), add[int], NumPartitions(3)))
			counts := map[string]int{}
			for _, p := range got {
				counts[fmt.Sprint(p.Key)] = p.Value
			}
			same(t, "counts", counts, map[string]int{"NaN": 2, "0": 2})
		})
	})
	t.Run("G5 keys of identity are refused", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		r := ReduceByKey(Parallelize(c, []Pair[*int, int]{kv(new(int), 1)}, 1), add[int])
		wantErr(t, "graph", r.Err(), keyed.ErrBadKeyType)
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			rows := []Pair[any, int]{kv[any](1, 1), kv[any](new(int), 1)}
			in := MapPartitions(Parallelize(c, []int{0, 1}, 1), identity[int])
			pairs := Map(in, func(i int) Pair[any, int] { return rows[i] })
			for name, err := range map[string]error{
				"reduceByKey": errOf(ReduceByKey(pairs, add[int]).Collect(t.Context())),
				"groupByKey":  errOf(GroupByKey(pairs).Collect(t.Context())),
				"partitionBy": errOf(PartitionBy(pairs, Hash[any](2)).Collect(t.Context())),
			} {
				wantErr(t, name, err, keyed.ErrBadKeyType)
				var user *UserError
				if !errors.As(err, &user) || user.Offset != 1 {
					t.Errorf("%s: %v, want a UserError at record 1", name, err)
				}
			}
		})
	})
}

func errOf[T any](_ T, err error) error { return err }

func TestCombineByKey(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		rows := []Pair[int, int]{kv(1, 1), kv(1, 2), kv(2, 1), kv(3, 1), kv(1, 3)}
		text := func(v int) string { return fmt.Sprint("c", v) }
		more := func(s string, v int) string { return fmt.Sprint(s, "+", v) }
		join := func(a, b string) string { return a + "|" + b }
		r := Parallelize(c, rows, 2) // (1,1)(1,2) and (2,1)(3,1)(1,3)
		same(t, "combined", collect(t, CombineByKey(r, text, more, join, NumPartitions(1))),
			[]Pair[int, string]{kv(1, "c1+2|c3"), kv(2, "c1"), kv(3, "c1")})
		same(t, "not combined before the shuffle", collect(t, CombineByKey(r, text, more, join, NumPartitions(1), WithoutMapSideCombine())),
			[]Pair[int, string]{kv(1, "c1+2+3"), kv(2, "c1"), kv(3, "c1")})
		placed := PartitionBy(r, Hash[int](1))
		same(t, "in place, mergeCombiners is not called", collect(t, CombineByKey(placed, text, more, join)),
			[]Pair[int, string]{kv(1, "c1+2+3"), kv(2, "c1"), kv(3, "c1")})
		same(t, "zero enters once a key and map partition",
			collect(t, AggregateByKey(r, 10, add[int], add[int], NumPartitions(1))), []Pair[int, int]{kv(1, 26), kv(2, 11), kv(3, 11)})
		same(t, "fold", collect(t, FoldByKey(r, 10, add[int], NumPartitions(1))), []Pair[int, int]{kv(1, 26), kv(2, 11), kv(3, 11)})
	})
	t.Run("a zero that is a list is copied", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		zero := make([]int, 0, 8)
		r := Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 2), kv(1, 3)}, 1)
		got := collect(t, AggregateByKey(r, zero, func(a []int, v int) []int { return append(a, v) }, slicesConcat, NumPartitions(1)))
		same(t, "lists", got, []Pair[int, []int]{kv(1, []int{1, 3}), kv(2, []int{2})})
	})
}

func slicesConcat(a, b []int) []int { return append(a, b...) }

func TestGroupByKey(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		var rows []Pair[int, int]
		for i := range 3000 {
			rows = append(rows, kv(i%7, i))
		}
		for _, n := range []int{1, 2, 7} {
			for _, p := range collect(t, GroupByKey(Parallelize(c, rows, n), NumPartitions(2))) {
				if len(p.Value) != len(rows)/7+btoi(p.Key < 3000%7) || !slices.IsSorted(p.Value) || p.Value[0] != p.Key {
					t.Errorf("key %d: %d values, sorted %t", p.Key, len(p.Value), slices.IsSorted(p.Value))
				}
			}
		}
		same(t, "keys as first seen, duplicates kept",
			collect(t, GroupByKey(Parallelize(c, []Pair[string, int]{kv("b", 1), kv("a", 2), kv("b", 1)}, 2), NumPartitions(1))),
			[]Pair[string, []int]{kv("b", []int{1, 1}), kv("a", []int{2})})
		same(t, "groupBy", collect(t, GroupBy(Parallelize(c, upTo(5), 2), func(x int) bool { return x%2 == 0 }, NumPartitions(1))),
			[]Pair[bool, []int]{kv(false, []int{1, 3, 5}), kv(true, []int{2, 4})})
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// C19: what keeps the partitioner needs no shuffle.
func TestPartitionerKept(t *testing.T) {
	c, runner := inlineContext(t, Options{})
	two, four := Hash[int](2), Hash[int](4)
	g := GroupByKey(Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 2), kv(1, 3), kv(4, 4)}, 2), PartitionedBy(two))
	for _, x := range []struct {
		op   string
		got  AnyPartitioner
		want AnyPartitioner
	}{
		{"map", Map(g, func(p Pair[int, []int]) Pair[int, []int] { return p }).Partitioner(), nil},
		{"keyBy", KeyBy(g, func(Pair[int, []int]) int { return 1 }).Partitioner(), nil},
		{"values", Values(g).Partitioner(), nil},
		{"keys", Keys(g).Partitioner(), nil},
		{"glom", Glom(g).Partitioner(), nil},
		{"mapValues", MapValues(g, func(v []int) int { return len(v) }).Partitioner(), two},
		{"flatMapValues", FlatMapValues(g, func(v []int) []int { return v }).Partitioner(), two},
		{"filter", g.Filter(func(Pair[int, []int]) bool { return true }).Partitioner(), two},
		{"union with itself", g.Union(g).Partitioner(), two},
		{"join with hash:4", Join(g, PartitionBy(Parallelize(c, []Pair[int, int]{kv(1, 1)}, 1), four)).Partitioner(), four},
	} {
		if x.got == nil && x.want == nil {
			continue
		}
		if x.got == nil || x.want == nil || !x.got.Equal(x.want) {
			t.Errorf("C19 %s has partitioner %v, want %v", x.op, x.got, x.want)
		}
	}
	if same := PartitionBy(g, Hash[int](2)); same != g {
		t.Error("C19 partitionBy an equal partitioner is another RDD")
	}
	again := GroupByKey(g)
	if d := again.Deps(); len(d) != 1 || d[0].Shuffle != nil {
		t.Error("C19 groupByKey of grouped pairs shuffles again")
	}
	collect(t, again)
	if runner.tasks != 2+2 {
		t.Errorf("%d tasks, want two map tasks and two result tasks", runner.tasks)
	}
	same(t, "flatMapValues", collect(t, FlatMapValues(g, func(v []int) []int { return v })), []Pair[int, int]{kv(2, 2), kv(4, 4), kv(1, 1), kv(1, 3)})
}

func TestPartitionBy(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		rows := []Pair[int, string]{kv(3, "a"), kv(-3, "b"), kv(0, "c"), kv(3, "a"), kv(4, "d")}
		same(t, "placed", partsOf(t, PartitionBy(Parallelize(c, rows, 2), Hash[int](3))),
			[][]Pair[int, string]{{kv(3, "a"), kv(-3, "b"), kv(0, "c"), kv(3, "a")}, {kv(4, "d")}, nil})
		t.Run("P1 an answer out of range is a task error", func(t *testing.T) {
			bad := PartitionFunc("bad", 2, func(k int) int { return k })
			r := Parallelize(c, []Pair[int, int]{kv(0, 0), kv(1, 1), kv(2, 2)}, 1)
			for name, err := range map[string]error{
				"partitionBy": errOf(PartitionBy(r, bad).Collect(t.Context())),
				"reduceByKey": errOf(ReduceByKey(r, add[int], PartitionedBy(bad)).Collect(t.Context())),
			} {
				wantErr(t, name, err, ErrPartitioner)
			}
		})
		t.Run("a partitioner that panics is a task error", func(t *testing.T) {
			bad := PartitionFunc("bad", 2, func(k int) int { panic("no place for this") })
			r := Parallelize(c, []Pair[int, int]{kv(0, 0)}, 1)
			for name, err := range map[string]error{
				"partitionBy": errOf(PartitionBy(r, bad).Collect(t.Context())),
				"reduceByKey": errOf(ReduceByKey(r, add[int], PartitionedBy(bad)).Collect(t.Context())),
			} {
				var p *PanicError
				if !errors.As(err, &p) || !strings.Contains(p.Value, "no place") {
					t.Errorf("%s: %v, want a PanicError", name, err)
				}
			}
		})
	})
	c, _ := inlineContext(t, Options{})
	r := Parallelize(c, []Pair[int, int]{kv(0, 0)}, 1)
	wantErr(t, "nil partitioner", PartitionBy(r, nil).Err(), ErrPartitioner)
	wantErr(t, "P2 negative count", PartitionBy(r, Partitioner[int](Hash[int](-1))).Err(), ErrArgument)
	wantErr(t, "negative count", ReduceByKey(r, add[int], NumPartitions(-1)).Err(), ErrArgument)
	wantErr(t, "another key type", ReduceByKey(r, add[int], PartitionedBy(Hash[string](2))).Err(), ErrPartitioner)
}

// C20, P5: the partitioner that is taken where none is asked for.
func TestDefaultPartitioner(t *testing.T) {
	for _, x := range []struct {
		parallelism int
		parents     []int // partition counts; negative: that many, hash partitioned
		want        int
	}{
		{0, []int{150, -10}, 150},
		{0, []int{-10, -100}, 100},
		{0, []int{-9, 11}, 9},
		{4, []int{150, -10}, 10},
		{4, []int{150, -3}, 4},
		{4, []int{11, 11}, 4},
		{0, []int{150, -15}, 150}, // exactly ten times: log10 decides
		{0, []int{0, 0}, 0},
	} {
		c, _ := inlineContext(t, Options{DefaultParallelism: x.parallelism})
		var bases []*base
		for _, n := range x.parents {
			var r *RDD[Pair[int, int]]
			switch {
			case n == 0:
				r = Empty[Pair[int, int]](c)
			case n > 0:
				r = Parallelize(c, []Pair[int, int]{}, n)
			default:
				r = PartitionBy(Parallelize(c, []Pair[int, int]{}, 1), Hash[int](-n))
			}
			bases = append(bases, &r.base)
		}
		p, err := choosePartitioner[int](c, keyOptions{}, bases...)
		if err != nil || p.NumPartitions() != x.want || !p.Equal(Hash[int](x.want)) {
			t.Errorf("C20 parallelism %d, parents %v: %v, %v; want hash:%d", x.parallelism, x.parents, p, err, x.want)
		}
	}
}

func TestPartitionerEqual(t *testing.T) {
	f := PartitionFunc("f", 2, func(int) int { return 0 })
	g := PartitionFunc("f", 2, func(int) int { return 0 })
	r := &RangePartitioner[int]{compare: Compare[int], bounds: []int{1}}
	d := &RangePartitioner[int]{compare: Compare[int], bounds: []int{1}, desc: true}
	for _, x := range []struct {
		a, b AnyPartitioner
		want bool
	}{
		{Hash[int](2), Hash[int](2), true}, {Hash[int](2), Hash[int](3), false}, {Hash[int](2), Hash[string](2), false},
		{f, f, true}, {f, g, false}, {Hash[int](2), r, false}, {r, Hash[int](2), false}, {r, d, false},
		{r, &RangePartitioner[int]{compare: Compare[int], bounds: []int{1}}, true},
		{r, &RangePartitioner[int]{compare: Compare[int], bounds: []int{2}}, false},
	} {
		if got := x.a.Equal(x.b); got != x.want {
			t.Errorf("P2 P3 %s equals %s: %t, want %t", x.a, x.b, got, x.want)
		}
	}
}

func TestDistinct(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		rows := []string{"b", "a", "b", "c", "a", "d"}
		for _, n := range []int{1, 2, 7} {
			r := Distinct(Parallelize(c, rows, n))
			got := collect(t, r)
			slices.Sort(got)
			same(t, "rows", got, []string{"a", "b", "c", "d"})
			if sizeOf(t, r) != n || r.Partitioner() != nil {
				t.Errorf("%d partitions, partitioner %v; want %d and none", sizeOf(t, r), r.Partitioner(), n)
			}
		}
		same(t, "as first seen", collect(t, Distinct(Parallelize(c, rows, 2), NumPartitions(1))), []string{"b", "a", "c", "d"})
		placed := PartitionBy(Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 1), kv(1, 1), kv(1, 2)}, 2), Hash[int](2))
		r := Distinct(placed)
		same(t, "in place", partsOf(t, r), [][]Pair[int, int]{{kv(2, 1)}, {kv(1, 1), kv(1, 2)}})
		if p := r.Partitioner(); p == nil || r.Deps()[0].Shuffle != nil {
			t.Error("distinct of records that lie together shuffles or loses the partitioner")
		}
		three := Distinct(placed, NumPartitions(3))
		if sizeOf(t, three) != 3 || three.Partitioner() != nil {
			t.Errorf("%d partitions, partitioner %v; want 3 and none", sizeOf(t, three), three.Partitioner())
		}
	})
}

func TestCounts(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		words := Parallelize(c, strings.Fields("to be or not to be"), 2)
		same(t, "counts", collect(t, Counts(words, NumPartitions(1))),
			[]Pair[string, int64]{kv("to", int64(2)), kv("be", int64(2)), kv("or", int64(1)), kv("not", int64(1))})
		byValue := must(CountByValue(t.Context(), words))
		slices.SortFunc(byValue, func(a, b Pair[string, int64]) int { return strings.Compare(a.Key, b.Key) })
		same(t, "by value", byValue, []Pair[string, int64]{kv("be", int64(2)), kv("not", int64(1)), kv("or", int64(1)), kv("to", int64(2))})
		byKey := must(CountByKey(t.Context(), Parallelize(c, []Pair[int, string]{kv(1, "a"), kv(1, "b")}, 2)))
		same(t, "by key", byKey, []Pair[int, int64]{kv(1, int64(2))})
	})
}

package rdd

import (
	"testing"

	"github.com/leat-io/leat/rdd/codec"
)

// box is a record with every kind of reference.
type box struct {
	List []int
	At   *int
	Set  map[string]int
}

func newBox(n int) box {
	at := n
	return box{List: []int{n, n}, At: &at, Set: map[string]int{"n": n}}
}

// spoil changes everything a record leads to.
func spoil(b box) int {
	got := b.List[0] + *b.At + b.Set["n"]
	b.List[0], *b.At, b.Set["n"] = -1, -1, -1
	return got
}

// A function may change whatever it is handed; what is kept answers as before.
func TestChangedInput(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		rows := []box{newBox(1), newBox(2), newBox(3), newBox(4)}
		want := []int{3, 6, 9, 12}
		source := Parallelize(c, rows, 2)
		pairs := Map(source, func(b box) Pair[int, box] { return kv(b.List[0]%2, b) })
		first := func(p Pair[int, box]) int { return spoil(p.Value) }
		cached := Map(Parallelize(c, upTo(4), 2), newBox).Cache()
		encoded := Map(Parallelize(c, upTo(4), 2), newBox)
		if err := encoded.Persist(MemoryOnlySer()); err != nil {
			t.Fatal(err)
		}
		shuffled := PartitionBy(pairs, Hash[int](2))
		grouped := GroupByKey(pairs, NumPartitions(1))
		keep := func(a, b box) box { // returns its second argument: later calls change it as their first
			a.List = append(a.List, b.List...)
			b.List[0] += a.List[0]
			*b.At += *a.At
			b.Set["n"] += a.Set["n"]
			return b
		}
		reduced := ReduceByKey(MapValues(pairs, func(b box) box { return b }), keep, NumPartitions(1))
		joined := Join(pairs, Map(Parallelize(c, []int{0, 1, 1}, 1), func(k int) Pair[int, int] { return kv(k, k) }), NumPartitions(1))
		sorted := must(SortBy(t.Context(), source, func(b box) int { return -b.List[0] }, SortPartitions(2)))
		for _, x := range []struct {
			name string
			run  func() []int
			want []int
		}{
			{"Parallelize", func() []int { return collect(t, Map(source, spoil)) }, want},
			{"the rows given to it", func() []int { return []int{rows[0].List[0], *rows[1].At, rows[2].Set["n"]} }, []int{1, 2, 3}},
			{"cache", func() []int { return collect(t, Map(cached, spoil)) }, want},
			{"encoded cache", func() []int { return collect(t, Map(encoded, spoil)) }, want},
			{"union of one cache twice", func() []int { return collect(t, Map(cached.Union(cached), spoil)) }, append(want, want...)},
			{"shuffle of rows", func() []int { return collect(t, Map(shuffled, first)) }, []int{6, 12, 3, 9}},
			{"groups", func() []int {
				return collect(t, FlatMap(grouped, func(p Pair[int, []box]) []int {
					var got []int
					for _, b := range p.Value {
						got = append(got, spoil(b))
					}
					return got
				}))
			}, []int{3, 9, 6, 12}},
			{"combined blocks", func() []int { return collect(t, Map(reduced, first)) }, []int{12, 18}},
			{"one value in several joined rows", func() []int {
				return collect(t, Map(joined, func(p Pair[int, Joined[box, int]]) int { return spoil(p.Value.Left) }))
			}, []int{3, 3, 9, 9, 6, 12}},
			{"sort", func() []int { return collect(t, Map(sorted, spoil)) }, []int{12, 9, 6, 3}},
			{"sink", func() []int {
				var got []int
				for _, b := range collect(t, cached) {
					got = append(got, spoil(b))
				}
				return got
			}, want},
		} {
			for range 3 {
				same(t, x.name, x.run(), x.want)
			}
		}
	})
	if codec.CloneFunc[box]() == nil {
		t.Error("the records of this test hold no references")
	}
}

// A chunk is the function's own as well.
func TestChangedChunk(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		cached := Range(c, 0, 3000, 1, 2).Cache()
		for range 3 {
			zeroed := MapChunks(cached, func(in, out []int64) ([]int64, error) {
				out = append(out, in...)
				clear(in)
				return out, nil
			})
			sum := must(zeroed.Reduce(t.Context(), add[int64]))
			if sum != 2999*3000/2 {
				t.Errorf("sum %d", sum)
			}
			if n := must(cached.Filter(func(x int64) bool { return x%2 == 0 }).Count(t.Context())); n != 1500 {
				t.Errorf("%d even numbers", n)
			}
		}
	})
}

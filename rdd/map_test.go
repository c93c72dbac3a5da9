package rdd

import (
	"errors"
	"iter"
	"slices"
	"strconv"
	"testing"
)

// narrow operators give the same records in the same order whatever the partitions, also when a
// partition is longer than a chunk.
func TestNarrowChain(t *testing.T) {
	var want []string
	for x := range 5000 {
		if x%3 != 0 {
			for range x % 4 {
				want = append(want, strconv.Itoa(x))
			}
		}
	}
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, n := range []int{1, 2, 7} {
			r := Range(c, 0, 5000, 1, n).Filter(func(x int64) bool { return x%3 != 0 })
			flat := FlatMap(r, func(x int64) []int64 { return slices.Repeat([]int64{x}, int(x%4)) })
			appended := FlatMapAppend(r, func(x int64, out []int64) []int64 {
				for range x % 4 {
					out = append(out, x)
				}
				return out
			})
			text := func(x int64) string { return strconv.Itoa(int(x)) }
			same(t, "flatMap", collect(t, Map(flat, text)), want)
			same(t, "flatMapAppend", collect(t, Map(appended, text)), want)
			tried := TryMap(appended, func(x int64) (string, error) { return text(x), nil })
			same(t, "tryMap", collect(t, tried), want)
			chunked := MapChunks(appended, func(in []int64, out []string) ([]string, error) {
				for _, x := range in {
					out = append(out, text(x))
				}
				return out, nil
			})
			same(t, "mapChunks", collect(t, chunked), want)
			seq := MapPartitions(appended, func(in iter.Seq[int64]) iter.Seq[string] {
				return func(yield func(string) bool) {
					for x := range in {
						if !yield(text(x)) {
							return
						}
					}
				}
			})
			same(t, "mapPartitions", collect(t, seq), want)
			if got := sizeOf(t, seq); got != n {
				t.Errorf("%d partitions, want %d", got, n)
			}
		}
	})
}

func TestFlatMap(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, upTo(4), 2)
		t.Run("C02", func(t *testing.T) {
			same(t, "1..x", collect(t, FlatMap(r, upTo)), []int{1, 1, 2, 1, 2, 3, 1, 2, 3, 4})
		})
		t.Run("one record makes very many", func(t *testing.T) {
			n := 100 * chunkSize
			got, err := FlatMap(r, func(int) []int { return make([]int, n) }).Count(t.Context())
			if err != nil || got != int64(4*n) {
				t.Errorf("count %d, %v; want %d", got, err, 4*n)
			}
		})
	})
}

func TestMapChunks(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	t.Run("not called for empty chunks", func(t *testing.T) {
		pairs := PartitionBy(Parallelize(c, []Pair[int, int]{kv(1, 1), kv(1, 1), kv(2, 2)}, 2), Hash[int](2))
		for _, r := range []*RDD[Pair[int, int]]{
			Parallelize(c, []Pair[int, int]{}, 3), pairs.Filter(func(p Pair[int, int]) bool { return false }), Distinct(pairs),
		} {
			collect(t, MapChunks(r, func(in []Pair[int, int], out []int) ([]int, error) {
				if len(in) == 0 {
					t.Error("empty chunk")
				}
				return out, nil
			}))
		}
	})
	t.Run("may change what it is given", func(t *testing.T) {
		r := Parallelize(c, upTo(4), 2)
		turned := MapChunks(r, func(in, out []int) ([]int, error) {
			for i := range in {
				in[i] = -in[i]
			}
			return append(out, in...), nil
		})
		same(t, "turned", collect(t, turned), []int{-1, -2, -3, -4})
		same(t, "source", collect(t, r), upTo(4))
	})
}

func TestMapPartitions(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, upTo(2), 4)
		t.Run("called for empty partitions as well", func(t *testing.T) {
			counts := MapPartitionsWithIndex(r, func(part int, in iter.Seq[int]) iter.Seq[[2]int] {
				return func(yield func([2]int) bool) {
					n := 0
					for range in {
						n++
					}
					yield([2]int{part, n})
				}
			})
			same(t, "counts", collect(t, counts), [][2]int{{0, 0}, {1, 1}, {2, 0}, {3, 1}})
		})
		t.Run("nil sequence is none", func(t *testing.T) {
			same(t, "rows", collect(t, MapPartitions(r, func(iter.Seq[int]) iter.Seq[int] { return nil })), []int{})
		})
		t.Run("may stop reading early", func(t *testing.T) {
			long := Range(c, 0, 10000, 1, 2)
			first := MapPartitions(long, func(in iter.Seq[int64]) iter.Seq[int64] {
				return func(yield func(int64) bool) {
					for x := range in {
						yield(x)
						return
					}
				}
			})
			same(t, "rows", collect(t, first), []int64{0, 5000})
		})
		t.Run("Take stops it", func(t *testing.T) {
			all := MapPartitions(Range(c, 0, 10000, 1, 2), func(in iter.Seq[int64]) iter.Seq[int64] { return in })
			same(t, "rows", must(all.Take(t.Context(), 2)), []int64{0, 1})
		})
	})
	t.Run("the partitioner goes unless preserved", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		g := PartitionBy(Parallelize(c, []Pair[int, int]{kv(1, 1)}, 1), Hash[int](2))
		id := func(in iter.Seq[Pair[int, int]]) iter.Seq[Pair[int, int]] { return in }
		if p := MapPartitions(g, id).Partitioner(); p != nil {
			t.Errorf("partitioner %s, want none", p)
		}
		if p := MapPartitions(g, id, PreservePartitioning()).Partitioner(); p == nil || !p.Equal(Hash[int](2)) {
			t.Errorf("partitioner %v, want hash:2", p)
		}
	})
}

func TestFilter(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		t.Run("C03 all gone", func(t *testing.T) {
			r := Parallelize(c, upTo(3), 3).Filter(func(x int) bool { return x > 9 })
			_, err := r.Reduce(t.Context(), add[int])
			wantErr(t, "reduce", err, ErrEmpty)
			_, err = r.First(t.Context())
			wantErr(t, "first", err, ErrEmpty)
			if n := must(r.Count(t.Context())); n != 0 {
				t.Errorf("count %d, want 0", n)
			}
			if empty := must(r.IsEmpty(t.Context())); !empty {
				t.Error("not empty")
			}
			same(t, "take", must(r.Take(t.Context(), 5)), []int{})
			if n := sizeOf(t, r); n != 3 {
				t.Errorf("%d partitions, want 3", n)
			}
		})
	})
}

func identity[T any](in iter.Seq[T]) iter.Seq[T] { return in }

// Whichever record of a chunk f panics for is the one that the error names, and those before it are there for a reader that has enough.
func TestMapNamesTheRecordThatPanics(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for n := range 11 {
			for bad := range n {
				r := Map(Range(c, 0, int64(n), 1, 1), func(x int64) int64 {
					if x == int64(bad) {
						panic("bad")
					}
					return -x
				})
				_, err := r.Collect(t.Context())
				user, ok := errors.AsType[*UserError](err)
				if !ok || user.Offset != int64(bad) {
					t.Errorf("record %d of %d: %v", bad, n, err)
				}
				got, err := r.Take(t.Context(), bad)
				if err != nil || len(got) != bad || bad > 0 && got[bad-1] != -int64(bad-1) {
					t.Errorf("%d before it: %v, %v", bad, got, err)
				}
			}
		}
	})
}

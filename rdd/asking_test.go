package rdd

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/leat-io/leat/rdd/keyed"
)

// packedPairs is what MapPacked shows f, by partition.
func packedPairs(t *testing.T, r *RDD[Pair[string, int]]) [][]Pair[string, int] {
	h, err := keyed.HasherFor[string]()
	if err != nil {
		t.Fatal(err)
	}
	return collect(t, MapPacked(r, "packed", h, func(_ int, rows *keyed.Packed[string, int]) []Pair[string, int] {
		return rows.Pairs(nil, 0, rows.Len())
	}))
}

func TestMapPackedShowsThePairsInTheirOrder(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		var rows []Pair[string, int]
		for i := range 3000 {
			rows = append(rows, kv(fmt.Sprint(i%700, " key"), i))
		}
		for _, maps := range []int{1, 3} {
			for _, reducers := range []int{1, 2} {
				in := Parallelize(c, rows, maps)
				reduced := ReduceByKey(in, add[int], NumPartitions(reducers))
				persisted := ReduceByKey(in, add[int], NumPartitions(reducers))
				if err := persisted.Persist(MemoryOnly()); err != nil {
					t.Fatal(err)
				}
				for name, r := range map[string]*RDD[Pair[string, int]]{
					"reduced": reduced, "persisted": persisted, "not by key": in,
					"again":       ReduceByKey(reduced, add[int], NumPartitions(reducers)),
					"not combine": ReduceByKey(in, add[int], NumPartitions(reducers), WithoutMapSideCombine()),
				} {
					name = fmt.Sprintf("%s, %d map partitions, %d reducers", name, maps, reducers)
					want := partsOf(t, r)
					same(t, name, packedPairs(t, r), want)
					same(t, name+", once more", packedPairs(t, r), want)
				}
			}
		}
	})
}

func TestMapPackedReportsAPanic(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		h, err := keyed.HasherFor[string]()
		if err != nil {
			t.Fatal(err)
		}
		r := MapPacked(Parallelize(c, []Pair[string, int]{kv("a", 1)}, 1), "packed", h, func(int, *keyed.Packed[string, int]) int { panic("mine") })
		_, err = r.Collect(t.Context())
		var user *UserError
		if !errors.As(err, &user) || user.Partition != 0 || user.Op != "packed" {
			t.Errorf("got %v", err)
		}
	})
}

func TestRowsAreLentOnlyToWhoLooksAtThem(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		lent := func(in *RDD[int]) *RDD[string] {
			return MapRowsLending(in, "words", nil, func(s string) string { return s + " owned" },
				func(_ int, rows Rows[int], lend bool, out func([]string) error) error {
					return rows.Each(func(chunk []int) error {
						words := make([]string, len(chunk))
						for i, n := range chunk {
							words[i] = fmt.Sprintf("%04d %v", n, lend)
						}
						return out(words)
					})
				})
		}
		in := Parallelize(c, upTo(2000), 1)
		top, err := Top(t.Context(), lent(in), 2)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "top", top, []string{"2000 true owned", "1999 true owned"})
		least, err := TakeOrdered(t.Context(), lent(in), 1)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "least", least, []string{"0001 true owned"})
		same(t, "collected", collect(t, lent(in))[1], "0002 false")
		mapped, err := Top(t.Context(), Map(lent(in), func(s string) string { return s }), 1)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "top of mapped", mapped, []string{"2000 false"})
		kept := lent(in)
		if err := kept.Persist(MemoryOnly()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			top, err := Top(t.Context(), kept, 1)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "top of persisted", top, []string{"2000 false"})
		}
	})
}

func TestSizedTablesHoldTheSame(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		var size TableSize
		for _, n := range []int{5000, 7000, 10, 0, 3000} {
			words := Map(Parallelize(c, upTo(2*n), 2), func(i int) string { return fmt.Sprint(i % max(n, 1)) })
			want := collect(t, Counts(words, NumPartitions(2)))
			got := collect(t, Counts(words, NumPartitions(2), SizedBy(&size)))
			if !slices.Equal(got, want) {
				t.Errorf("%d keys: not the same with a size", n)
			}
			if n > 0 && size.keys.Load() != int64(n) {
				t.Errorf("%d keys noted, want %d", size.keys.Load(), n)
			}
		}
	})
}

package rdd

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// keyedRow is a row with a key, which says where it was.
type keyedRow[K any] struct {
	Key K
	At  int
}

// sortsAs compares the sort by bits with the sort by Compare, both ways, for rows with keys and for bare keys.
func sortsAs[K interface{ comparable }](t *testing.T, name string, keys []K, compare func(a, b K) int) {
	t.Helper()
	rows := make([]keyedRow[K], len(keys))
	for i, k := range keys {
		rows[i] = keyedRow[K]{k, i}
	}
	same := cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty()}
	for _, desc := range []bool{false, true} {
		order := func(a, b K) int {
			if desc {
				a, b = b, a
			}
			return compare(a, b)
		}
		want := slices.Clone(rows)
		slices.SortStableFunc(want, func(a, b keyedRow[K]) int { return order(a.Key, b.Key) })
		got, ok, err := sortNatural(&place{}, slices.Clone(rows), func(r keyedRow[K]) K { return r.Key }, desc)
		if !ok || err != nil {
			t.Fatalf("%s: %t, %v", name, ok, err)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Errorf("%s, descending %t: rows differ (-want +got):\n%s", name, desc, diff)
		}
		bare := slices.Clone(keys)
		slices.SortStableFunc(bare, order)
		sorted, ok, err := sortNatural(&place{}, slices.Clone(keys), func(k K) K { return k }, desc)
		if !ok || err != nil {
			t.Fatalf("%s: %t, %v", name, ok, err)
		}
		if diff := cmp.Diff(bare, sorted, same); diff != "" {
			t.Errorf("%s, descending %t: keys differ (-want +got):\n%s", name, desc, diff)
		}
	}
}

func TestSortNatural(t *testing.T) {
	type named int32
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 100, 3000} {
		var i64 []int64
		var u8 []uint8
		var i16 []int16
		var nm []named
		var f64 []float64
		var f32 []float32
		var text []string
		for range n {
			x := random.Uint64()
			i64 = append(i64, int64(x)>>(x%60))
			u8 = append(u8, uint8(x))
			i16 = append(i16, int16(x))
			nm = append(nm, named(x))
			f64 = append(f64, []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1.5, -1.5, float64(int64(x))}[x%8])
			f32 = append(f32, []float32{float32(math.NaN()), 0, float32(math.Copysign(0, -1)), float32(int32(x))}[x%4])
			text = append(text, strings.Repeat("ab\x00", int(x%5))+string(rune('a'+x%3)))
		}
		sortsAs(t, "int64", i64, Compare[int64])
		sortsAs(t, "uint8", u8, Compare[uint8])
		sortsAs(t, "int16", i16, Compare[int16])
		sortsAs(t, "named int32", nm, Compare[named])
		sortsAs(t, "float64", f64, Compare[float64])
		sortsAs(t, "float32", f32, Compare[float32])
		sortsAs(t, "string", text, Compare[string])
	}
	t.Run("integers that are not their own keys", func(t *testing.T) {
		rows := []int64{3, 1, 2, 4, 6, 5}
		got, _, err := sortNatural(&place{}, slices.Clone(rows), func(x int64) int64 { return x % 3 }, false)
		if want := []int64{3, 6, 1, 4, 2, 5}; err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	})
	t.Run("no bits to go by", func(t *testing.T) {
		if _, ok, _ := sortNatural(&place{}, []int{1}, func(x int) [2]int { return [2]int{x} }, false); ok {
			t.Error("arrays are sorted by their bits")
		}
	})
	t.Run("key is called once for each row", func(t *testing.T) {
		calls := 0
		if _, _, err := sortNatural(&place{}, make([]int, 1000), func(x int) int { calls++; return x }, false); err != nil || calls != 1000 {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
}

func TestRowBuffer(t *testing.T) {
	for _, sizes := range [][]int{{}, {0}, {1}, {512}, {511, 2}, {512, 512, 512}, {5000}, {100, 200_000, 3}} {
		var b rowBuffer[int]
		var want []int
		for _, n := range sizes {
			rows := make([]int, n)
			for i := range rows {
				rows[i] = len(want) + i
			}
			b.add(rows)
			want = append(want, rows...)
		}
		got := b.take()
		if !slices.Equal(got, want) || len(got) != len(want) {
			t.Errorf("%v: %d rows come back, want %d", sizes, len(got), len(want))
		}
		if cap(got) != len(got) {
			t.Errorf("%v: room for %d more rows", sizes, cap(got)-len(got))
		}
		if b.take() != nil {
			t.Errorf("%v: something is left", sizes)
		}
	}
}

// Rows a source holds are read without a copy only by those who leave them alone.
func TestSourceStaysAsItIs(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		rows := make([]Pair[int, int], 3000)
		for i := range rows {
			rows[i] = kv(i%7, i)
		}
		source := FromBlocks(c, [][]Pair[int, int]{slices.Clone(rows)})
		spoilt := MapChunks(PartitionBy(source, Hash[int](3)), func(in, out []Pair[int, int]) ([]Pair[int, int], error) {
			out = append(out, in...)
			clear(in)
			return out, nil
		})
		for range 2 {
			if n := len(collect(t, ReduceByKey(spoilt, add[int], NumPartitions(1)))); n != 7 {
				t.Errorf("%d keys, want 7", n)
			}
			collect(t, MapChunks(source, func(in, out []Pair[int, int]) ([]Pair[int, int], error) {
				clear(in)
				return out, nil
			}))
			same(t, "records", collect(t, source), rows)
		}
	})
}

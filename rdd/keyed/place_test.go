package keyed_test

import (
	"math"
	"strings"
	"testing"

	"github.com/leat-io/leat/rdd/keyed"
)

// placed compares PlacePairs with Partition, and Enumerate with Upsert, key by key.
func placed[K comparable](t *testing.T, name string, keys []K) {
	t.Helper()
	h, err := keyed.HasherFor[K]()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]keyed.Pair[K, int8], len(keys))
	for i, k := range keys {
		rows[i].Key = k
	}
	for _, n := range []int{-1, 0, 1, 3, 4, 7, 1000} {
		to := make([]uint32, len(rows))
		for i := range to {
			to[i] = 99
		}
		keyed.PlacePairs(h, rows, n, to)
		for i, k := range keys {
			if want := h.Partition(k, n); int(to[i]) != want {
				t.Errorf("%s %v goes to %d of %d, want %d", name, k, to[i], n, want)
			}
		}
	}
	bulk, single := keyed.New[K, int](h, 0), keyed.New[K, int](h, 0)
	to := make([]int32, len(rows))
	keyed.Enumerate(bulk, rows, to)
	for i, k := range keys {
		if want, _ := single.Upsert(k); int(to[i]) != want {
			t.Errorf("%s %v is entry %d, want %d", name, k, to[i], want)
		}
	}
	if bulk.Len() != single.Len() {
		t.Errorf("%s: %d entries, want %d", name, bulk.Len(), single.Len())
	}
}

func TestPlaceAndEnumerate(t *testing.T) {
	placed(t, "int64", []int64{0, 1, -1, 5, -7, math.MinInt64, math.MaxInt64, 5})
	placed(t, "uint64", []uint64{0, 1, math.MaxUint64, 1 << 63})
	placed(t, "int8", []int8{0, -1, 127, -128, -1})
	placed(t, "string", []string{"", "a", "abcdefgh", strings.Repeat("x", 15), strings.Repeat("x", 16), strings.Repeat("y", 100), "a"})
	placed(t, "float64", []float64{0, math.Copysign(0, -1), math.NaN(), 1, math.NaN()})
	placed(t, "struct", []struct{ A, B int }{{1, 2}, {2, 1}, {1, 2}})
	var many []int64
	var texts []string
	for i := range 5000 { // over many runs, growing on the way, with keys that come again
		many = append(many, int64(i*i%1777)-800)
		texts = append(texts, strings.Repeat("k", i%20)+string(rune('a'+i%26)))
	}
	placed(t, "many integers", many)
	placed(t, "many strings", texts)
}

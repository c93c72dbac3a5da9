package keyed

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyFloat draws floats of which some are not themselves, or look different and are equal.
func anyFloat() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(),
		math.Float64frombits(0x7ff8000000000002), math.Float64frombits(0xfff0000000000001)}), rapid.Float64())
}

// anyKey draws keys of several types, of which many have the same hash: those that Check would let pass.
func anyKey() *rapid.Generator[any] {
	small := rapid.IntRange(0, 4)
	return rapid.OneOf(
		rapid.Just(any(nil)),
		rapid.Map(small, func(i int) any { return i }), rapid.Map(small, func(i int) any { return int64(i) }),
		rapid.Map(small, func(i int) any { return uint8(i) }), rapid.Map(small, func(i int) any { return int32(-i) }),
		rapid.Map(anyFloat(), func(f float64) any { return f }), rapid.Map(anyFloat(), func(f float64) any { return float32(f) }),
		rapid.Map(anyString(), func(s string) any { return s }), rapid.Map(anyFloat(), func(f float64) any { return [2]any{f, nil} }),
		rapid.Map(anyStruct(), func(s agreeingStruct) any { return s }),
	)
}

// Keys of which Go says that they are not themselves, or that are equal and look different, and keys of other types with the same hash, are
// merged as a table would.
func TestMergeByHashOfFloatsAndInterfaces(t *testing.T) {
	distinct := func(h func(a, b int) bool, n int) (at []int) {
		for i := range n {
			if !slices.ContainsFunc(at, func(j int) bool { return h(i, j) }) {
				at = append(at, i)
			}
		}
		return at
	}
	floats, anys := mustHasher[float64](t), mustHasher[any](t)
	rapid.Check(t, func(t *rapid.T) {
		checkByHash(t, rapid.SliceOfN(anyFloat(), 0, 100))
		checkByHash(t, rapid.SliceOfN(anyKey(), 0, 200))
		checkMergeOf(t, floats, rapid.Map(rapid.SliceOfN(anyFloat(), 0, 60), func(all []float64) (once []float64) {
			for _, i := range distinct(func(a, b int) bool { return floats.Equal(all[a], all[b]) }, len(all)) {
				once = append(once, all[i])
			}
			return once
		}))
		checkMergeOf(t, anys, rapid.Map(rapid.SliceOfN(anyKey(), 0, 120), func(all []any) (once []any) {
			for _, i := range distinct(func(a, b int) bool { return anys.Equal(all[a], all[b]) }, len(all)) {
				once = append(once, all[i])
			}
			return once
		}))
	})
}

// checkMergeOf compares MergeByHash and EachMerged with a table.
func checkMergeOf[K comparable](t *rapid.T, h *Hasher[K], some *rapid.Generator[[]K]) {
	pack := func(keys []K, weight int) *Packed[K, int] {
		p := NewPacked[K, int](h, 0)
		for i, k := range keys {
			p.Append([]Pair[K, int]{{k, weight * (i + 1)}})
		}
		return p.ByHash()
	}
	older, newer := pack(some.Draw(t, "older"), 1), pack(some.Draw(t, "newer"), 1000)
	f := func(a, b int) int { return 7*a + b } // neither commutative nor associative
	want := New[K, int](h, 0)
	Reduce(want, append(older.Pairs(nil, 0, older.Len()), newer.Pairs(nil, 0, newer.Len())...), f, nil)
	merged := MergeByHash(older, newer, f, nil)
	got := merged.Pairs(nil, 0, merged.Len())
	if len(got) != want.Len() {
		t.Fatalf("%d rows %v, want %d: %v", len(got), got, want.Len(), want.Pairs(nil, 0, want.Len()))
	}
	for i, r := range got {
		if at, ok := want.Find(r.Key); !ok || *want.Value(at) != r.Value || i > 0 && byHash(h, got[i-1].Key, r.Key) > 0 {
			t.Fatalf("row %d: got %v, want %v", i, got, want.Pairs(nil, 0, want.Len()))
		}
	}
	var rows []Pair[K, int]
	if err := EachMerged(older, newer, f, nil, rapid.IntRange(-1, 5).Draw(t, "chunk"), func(part []Pair[K, int]) error {
		rows = append(rows, part...)
		return nil
	}); err != nil || !samePairs(h, rows, got) {
		t.Fatalf("in chunks: %v, %v, want %v", rows, err, got)
	}
}

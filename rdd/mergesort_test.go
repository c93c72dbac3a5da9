package rdd

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMergingSortsStably(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
			return [2]int{rapid.IntRange(0, 20).Draw(t, "key"), rapid.Int().Draw(t, "value")}
		}), 0, 200).Draw(t, "rows")
		byKey := func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) }
		want := slices.Clone(rows)
		slices.SortStableFunc(want, byKey)
		sortMerging(rows, make([][2]int, len(rows)/2), byKey)
		if !slices.Equal(rows, want) {
			t.Fatalf("got %v, want %v", rows, want)
		}
	})
}

package keyed

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestFindKeysIsFindForEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkFindKeys(t, rapid.SliceOfN(rapid.StringN(0, 20, 40), 0, 600), rapid.StringN(0, 20, 40))
		checkFindKeys(t, rapid.SliceOfN(rapid.Int8(), 0, 600), rapid.Int8())
		checkFindKeys(t, rapid.SliceOfN(rapid.Int64(), 0, 600), rapid.Int64())
		checkFindKeys(t, rapid.SliceOfN(rapid.Float64(), 0, 100), rapid.Float64())
	})
}

func checkFindKeys[K comparable](t *rapid.T, some *rapid.Generator[[]K], one *rapid.Generator[K]) {
	h, err := HasherFor[K]()
	if err != nil {
		t.Fatal(err)
	}
	tab := New[K, int64](h, 0)
	tab.crowded = rapid.Bool().Draw(t, "crowded")
	keys := some.Draw(t, "keys")
	Count(tab, keys)
	for range 20 {
		keys = append(keys, one.Draw(t, "key"))
	}
	to := make([]int32, len(keys)+1)
	FindKeys(tab, keys, to)
	for i, k := range keys {
		want, ok := tab.Find(k)
		if !ok {
			want = -1
		}
		if int(to[i]) != want {
			t.Fatalf("key %v: got entry %d, want %d", k, to[i], want)
		}
	}
}

func BenchmarkFindKeys(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		tab := New[int64, int64](mustHasher[int64](b), 0)
		keys := make([]int64, n)
		for i := range keys {
			keys[i] = int64(i*7919) % int64(n) * 1_000_003
		}
		Count(tab, keys)
		to := make([]int32, 10_000)
		b.Run(fmt.Sprintf("bulk/keys=%d", n), func(b *testing.B) {
			at := 0
			for b.Loop() {
				FindKeys(tab, keys[at:at+len(to)], to)
				at = (at + len(to)) % n
			}
			perRecord(b, len(to))
		})
		b.Run(fmt.Sprintf("single/keys=%d", n), func(b *testing.B) {
			at := 0
			for b.Loop() {
				for i, k := range keys[at : at+len(to)] {
					e, _ := tab.Find(k)
					to[i] = int32(e)
				}
				at = (at + len(to)) % n
			}
			perRecord(b, len(to))
		})
	}
}

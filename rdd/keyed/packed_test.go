package keyed

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPackedKeysAreFoundAsTheirKeysAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkPacked(t, rapid.SliceOfN(rapid.StringN(0, 20, 40), 0, 600), rapid.StringN(0, 20, 40))
		checkPacked(t, rapid.SliceOfN(rapid.Int8(), 0, 600), rapid.Int8())
		checkPacked(t, rapid.SliceOfN(rapid.Int64(), 0, 600), rapid.Int64())
		checkPacked(t, rapid.SliceOfN(rapid.Float64(), 0, 100), rapid.Float64())
		checkPacked(t, rapid.SliceOfN(rapid.Map(rapid.String(), func(s string) [1]any { return [1]any{s} }), 0, 50),
			rapid.Map(rapid.Int(), func(x int) [1]any { return [1]any{x} }))
	})
}

// checkPacked packs keys, some of which a table has, and compares every loop over packed rows with that over the rows themselves.
func checkPacked[K comparable](t *rapid.T, some *rapid.Generator[[]K], one *rapid.Generator[K]) {
	h, err := HasherFor[K]()
	if err != nil {
		t.Fatal(err)
	}
	crowded := rapid.Bool().Draw(t, "crowded")
	newTable := func(keys []K) *Table[K, int64] {
		tab := New[K, int64](h, 0)
		tab.crowded = crowded
		Count(tab, keys)
		return tab
	}
	known := some.Draw(t, "keys")
	var rows []Pair[K, int64]
	for i, k := range known {
		if i%3 != 0 {
			rows = append(rows, Pair[K, int64]{k, int64(i)})
		}
	}
	for i := range rapid.IntRange(0, 300).Draw(t, "others") {
		rows = append(rows, Pair[K, int64]{one.Draw(t, "key"), int64(-i)})
	}
	p := NewPacked[K, int64](h, 0)
	cut := rapid.IntRange(0, len(rows)).Draw(t, "cut")
	p.Append(rows[:cut])
	p.Append(rows[cut:])
	if rapid.Bool().Draw(t, "trim") {
		p.Trim()
	}
	if p.Len() != len(rows) {
		t.Fatalf("%d rows, want %d", p.Len(), len(rows))
	}
	for i, got := range p.Pairs(nil, 0, p.Len()) {
		if !h.Equal(got.Key, rows[i].Key) || got.Value != rows[i].Value || *p.Values().At(i) != got.Value {
			t.Fatalf("row %d is %v, want %v", i, got, rows[i])
		}
	}
	from := rapid.IntRange(0, len(rows)).Draw(t, "from")
	to := rapid.IntRange(from, len(rows)).Draw(t, "to")
	got, want := make([]int32, to-from), make([]int32, to-from)

	tab := newTable(known)
	FindPacked(tab, p, from, to, got)
	FindPairs(tab, rows[from:to], want)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("FindPacked (-want +got):\n%s", d)
	}
	plain := newTable(known)
	Enumerate(plain, rows[from:to], want)
	EnumeratePacked(tab, p, from, to, got)
	if d := cmp.Diff(want, got); d != "" || tab.Len() != plain.Len() {
		t.Fatalf("EnumeratePacked (-want +got):\n%s", d)
	}
	one1, one2 := newTable(known), newTable(known)
	for i := from; i < to; i++ {
		a, fresh := UpsertPacked(one1, p, i)
		b, was := one2.Upsert(rows[i].Key)
		if a != b || fresh != was || one1.HashAt(a) != h.Hash(rows[i].Key) {
			t.Fatalf("UpsertPacked: got %d, %t, want %d, %t", a, fresh, b, was)
		}
	}
	f := func(a, b int64) int64 { return 3*a + b }
	merged, reduced := newTable(known), newTable(known)
	Merge(merged, (&Block[K, int64]{Packed: p}).Slice(from, to), f, nil)
	Reduce(reduced, rows[from:to], f, nil)
	sameTables(t, h, merged, reduced)
	// The entries of a table are packed rows as they are.
	again := New[K, int64](h, 0)
	Merge(again, &Block[K, int64]{Packed: reduced.Packed()}, f, nil)
	sameTables(t, h, again, reduced)
}

func sameTables[K comparable](t *rapid.T, h *Hasher[K], a, b *Table[K, int64]) {
	same := func(x, y Pair[K, int64]) bool { return h.Equal(x.Key, y.Key) && x.Value == y.Value }
	if !slices.EqualFunc(a.Pairs(nil, 0, a.Len()), b.Pairs(nil, 0, b.Len()), same) {
		t.Fatal("the tables differ")
	}
}

func TestPackedKeysAreCanonicalAndTheirOwn(t *testing.T) {
	type mixed struct {
		Word string
		X    float64
	}
	h := mustHasher[mixed](t)
	word := []byte("word")
	p := NewPacked[mixed, int](h, 1)
	p.Append([]Pair[mixed, int]{{mixed{string(word), math.Copysign(0, -1)}, 1}, {mixed{"word", 0}, 2}})
	tab := New[mixed, int](h, 0)
	at := make([]int32, 2)
	EnumeratePacked(tab, p, 0, 2, at)
	if at[0] != at[1] || math.Signbit(tab.Key(0).X) {
		t.Errorf("entries %v, key %v", at, tab.Key(0))
	}
}

func TestTrimmedRowsHoldNoRoom(t *testing.T) {
	h := mustHasher[string](t)
	p := NewPacked[string, int64](h, 10_000)
	p.Append([]Pair[string, int64]{{"a", 1}, {"a string of more than fifteen bytes", 2}})
	before := p.Memory()
	p.Trim()
	if after := p.Memory(); after > 200 || before < 200_000 {
		t.Errorf("%d bytes, before that %d", after, before)
	}
}

func TestSelectIsPairsOfWhatIsPicked(t *testing.T) {
	h := mustHasher[string](t)
	tab := New[string, int64](h, 0)
	for i, k := range []string{"a", "b", "a string of more than fifteen bytes", "c"} {
		at, _ := tab.Upsert(k)
		*tab.Value(at) = int64(i)
	}
	got := Select(tab, nil, 1, 4, func(i int, v *int64) (int, bool) { return i*10 + int(*v), *v != 2 })
	if d := cmp.Diff([]Pair[string, int]{{"b", 11}, {"c", 33}}, got); d != "" {
		t.Error(d)
	}
	if got := Select(tab, got, 2, 2, func(int, *int64) (int, bool) { panic("there is nothing to pick") }); len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

package keyed

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLentKeysAreThoseOfSelect(t *testing.T) {
	words := []string{"", "a", "b", "eight.by", "fifteen bytes..", "sixteen bytes...", "a string of more than fifteen bytes"}
	tab := New[string, int64](mustHasher[string](t), 0)
	for i, k := range words {
		at, _ := tab.Upsert(k)
		*tab.Value(at) = int64(i)
	}
	pick := func(i int, v *int64) (int, bool) { return i*10 + int(*v), *v != 2 }
	want := Select(tab, nil, 0, len(words), pick)
	got := SelectLent(tab, nil, 0, len(words), pick)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// They stay good while the table changes and grows.
	for i := range 10_000 {
		at, _ := tab.Upsert(fmt.Sprintf("another string of more than fifteen bytes %d", i))
		*tab.Value(at) = -1
	}
	*tab.Value(0) = 99
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := testing.AllocsPerRun(10, func() { got = SelectLent(tab, got[:0], 0, len(words), pick) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	numbers := New[int, int64](mustHasher[int](t), 0)
	numbers.Upsert(7)
	if got := SelectLent(numbers, nil, 0, 1, func(int, *int64) (int, bool) { return 1, true }); len(got) != 1 || got[0].Key != 7 {
		t.Errorf("got %v", got)
	}
}

func TestOwnKeysShareNoBytes(t *testing.T) {
	h := mustHasher[string](t)
	bytes := []byte("word")
	tab := New[string, int64](h, 0)
	tab.Upsert(string(bytes))
	lent := SelectLent(tab, nil, 0, 1, func(int, *int64) (int, bool) { return 0, true })[0].Key
	own := h.Own(lent)
	tab.Reset()
	tab.Upsert("else")
	if own != "word" || !h.Lends() {
		t.Errorf("own key %q, lends %v", own, h.Lends())
	}
	if numbers := mustHasher[int](t); numbers.Own(7) != 7 || numbers.Lends() {
		t.Errorf("own key %d, lends %v", numbers.Own(7), numbers.Lends())
	}
}

func TestRowsAreFoundWhereverTheyWere(t *testing.T) {
	h := mustHasher[string](t)
	tab := New[string, int](h, 0)
	p := NewPacked[string, int](h, 0)
	for i := range 500 {
		k := fmt.Sprint(i)
		if i%7 == 0 {
			k += " a string of more than fifteen bytes"
		}
		p.Append([]Pair[string, int]{{k, i}})
		if i%3 != 0 {
			tab.Upsert(k)
		}
	}
	want, near, at := make([]int32, 400), make([]int32, 400), make([]int32, 400)
	FindPacked(tab, p, 50, 450, want)
	for i := range near {
		near[i] = []int32{want[i], -1, 3, 1 << 30}[i%4]
	}
	FindPackedNear(tab, p, 50, 450, near, at)
	if d := cmp.Diff(want, at); d != "" {
		t.Error(d)
	}
	FindPackedNear(tab, p, 50, 450, near, near)
	if d := cmp.Diff(want, near); d != "" {
		t.Errorf("in place: %s", d)
	}
	FindPackedNear(New[string, int](h, 0), p, 50, 450, want, at)
	for _, i := range at {
		if i != -1 {
			t.Fatalf("found %d in an empty table", i)
		}
	}
}

func TestGrownTablesHaveRoom(t *testing.T) {
	tab := New[string, int](mustHasher[string](t), 0)
	tab.Upsert("a")
	tab.Grow(5000)
	before := tab.Memory(0)
	for i := range 5000 {
		tab.Upsert(fmt.Sprint(i))
	}
	if after := tab.Memory(0); after != before || tab.Len() != 5001 {
		t.Errorf("%d bytes for %d keys, before that %d", after, tab.Len(), before)
	}
	if i, ok := tab.Find("a"); !ok || i != 0 {
		t.Errorf("a is entry %d, %v", i, ok)
	}
}

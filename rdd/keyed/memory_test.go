package keyed

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMemoryCoversWhatGrowingTakes(t *testing.T) {
	strings, ints, boxed := New[string, int64](mustHasher[string](t), 0), New[int, [3]int64](mustHasher[int](t), 0), New[any, bool](mustHasher[any](t), 0)
	check := func(what string, before, after, held int64) {
		t.Helper()
		if after < held || before < after/8 {
			t.Fatalf("%s: %d bytes foreseen, %d estimated, %d held", what, before, after, held)
		}
	}
	for i := range 40_000 {
		s, n, x := strings.Memory(1), ints.Memory(1), boxed.Memory(1)
		strings.Upsert(fmt.Sprint("a key of more than fifteen bytes ", i))
		ints.Upsert(i)
		boxed.Upsert(i)
		check("strings", s, strings.Memory(0), int64(len(strings.slots)*4+cap(strings.words)*24+cap(strings.arena)))
		check("ints", n, ints.Memory(0), int64(len(ints.slots)*4+cap(ints.ints)*32))
		check("boxed", x, boxed.Memory(0), int64(len(boxed.slots)*4+cap(boxed.whole)*32))
		if n < ints.Memory(0) {
			t.Fatalf("entry %d: %d bytes foreseen, %d taken", i, n, ints.Memory(0))
		}
	}
}

func TestHashesThatAreKnownAnswerTheSame(t *testing.T) {
	tab := New[int8, int](mustHasher[int8](t), 0)
	h := tab.Hasher()
	if _, ok := tab.FindHash(3, h.Hash(3)); ok {
		t.Error("found in an empty table")
	}
	for k := int8(-100); k < 100; k += 3 {
		tab.Upsert(k)
	}
	for k := int8(-100); k < 100; k++ {
		i, ok := tab.Find(k)
		j, also := tab.FindHash(k, h.Hash(k))
		if i != j || ok != also {
			t.Errorf("key %d: %d %t, by its hash %d %t", k, i, ok, j, also)
		}
		for _, n := range []int{0, 1, 3, 8} {
			if got, want := h.PartitionHash(k, h.Hash(k), n), h.Partition(k, n); got != want {
				t.Errorf("key %d: partition %d of %d by its hash, %d without", k, got, n, want)
			}
		}
	}
}

func TestSplitInRangesIsSplit(t *testing.T) {
	h := mustHasher[string](t)
	rapid.Check(t, func(t *rapid.T) {
		tab := New[string, int](h, 0)
		for i := range rapid.IntRange(0, 1000).Draw(t, "keys") {
			j, _ := tab.Upsert(fmt.Sprint("key of some length ", i*i))
			*tab.Value(j) = i
		}
		n, step := rapid.IntRange(1, 5).Draw(t, "parts"), rapid.IntRange(1, 600).Draw(t, "step")
		part := func(k string) int { return len(k) % n }
		whole, _ := tab.Split(n, part)
		hashed := tab.SplitHash(n)
		pieces, hashedPieces := make([]*Block[string, int], n), make([]*Block[string, int], n)
		for from := 0; from < tab.Len(); from += step {
			cut, err := tab.SplitRange(n, from, min(from+step, tab.Len()), part)
			if err != nil {
				t.Fatal(err)
			}
			join(pieces, columns(cut))
			join(hashedPieces, columns(tab.SplitHashRange(n, from, min(from+step, tab.Len()))))
		}
		if d := cmp.Diff(columns(whole), pieces) + cmp.Diff(columns(hashed), hashedPieces); tab.Len() > 0 && d != "" {
			t.Fatal(d)
		}
	})
}

func join[K comparable, V any](to, cut []*Block[K, V]) {
	for p, b := range cut {
		if b == nil {
			continue
		}
		if to[p] == nil {
			to[p] = &Block[K, V]{Distinct: true}
		}
		to[p].Keys = slices.Concat(to[p].Keys, b.Keys)
		to[p].Values = slices.Concat(to[p].Values, b.Values)
		to[p].Hashes = slices.Concat(to[p].Hashes, b.Hashes)
	}
}

// A block may have a key several times: those of a map task that has stopped combining do.
func TestMergeOfBlockWithRepeatedKeys(t *testing.T) {
	h := mustHasher[string](t)
	rapid.Check(t, func(t *rapid.T) {
		b := &Block[string, string]{}
		var rows []Pair[string, string]
		for i := range rapid.IntRange(0, 700).Draw(t, "rows") {
			k := fmt.Sprint("key ", i*7919%rapid.IntRange(1, 300).Draw(t, "key"))
			b.Keys, b.Values, b.Hashes = append(b.Keys, k), append(b.Values, fmt.Sprint(i)), append(b.Hashes, h.Hash(k))
			rows = append(rows, Pair[string, string]{k, fmt.Sprint(i)})
		}
		f := func(x, y string) string { return "(" + x + y + ")" }
		merged, reduced := New[string, string](h, 0), New[string, string](h, 0)
		Merge(merged, b, f, nil)
		Reduce(reduced, rows, f, nil)
		if d := cmp.Diff(reduced.Pairs(nil, 0, reduced.Len()), merged.Pairs(nil, 0, merged.Len())); d != "" {
			t.Fatal(d)
		}
	})
}

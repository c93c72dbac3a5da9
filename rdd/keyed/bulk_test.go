package keyed

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCombineAndAddAndCountAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.StringN(0, 3, 20), 0, 700).Draw(t, "keys")
		h, _ := HasherFor[string]()
		ones := make([]Pair[string, int64], len(keys))
		for i, k := range keys {
			ones[i] = Pair[string, int64]{k, 1}
		}
		count, add, reduce := New[string, int64](h, 0), New[string, int64](h, 0), New[string, int64](h, 0)
		Count(count, keys)
		Add(add, ones)
		Reduce(reduce, ones, sum64, nil)
		lists := New[string, []int64](h, 0)
		Combine(lists, ones, func(v int64) []int64 { return []int64{v} }, func(c []int64, v int64) []int64 { return append(c, v) })
		want := count.Pairs(nil, 0, count.Len())
		for name, got := range map[string][]Pair[string, int64]{"Add": add.Pairs(nil, 0, add.Len()), "Reduce": reduce.Pairs(nil, 0, reduce.Len())} {
			if !slices.Equal(want, got) {
				t.Fatalf("%s: got %v, want %v", name, got, want)
			}
		}
		for i, p := range lists.Pairs(nil, 0, lists.Len()) {
			if p.Key != want[i].Key || int64(len(p.Value)) != want[i].Value {
				t.Fatalf("Combine: got %v, want %v", p, want[i])
			}
		}
	})
}

func TestAddKeepsFirstValueAsItIs(t *testing.T) {
	tab := New[int, float64](mustHasher[int](t), 0)
	Add(tab, []Pair[int, float64]{{1, math.Copysign(0, -1)}})
	if !math.Signbit(*tab.Value(0)) {
		t.Error("negative zero became zero")
	}
}

func TestCloneIsForStoredValuesOnly_G10(t *testing.T) {
	type list = []int
	h := mustHasher[string](t)
	app := func(a, b list) list { return append(a, b...) }
	rows := []Pair[string, list]{{"a", list{1}}, {"b", list{2}}, {"a", list{3}}}
	copies := 0
	clone := func(l list) list { copies++; return slices.Clone(l) }
	tab := New[string, list](h, 0)
	Reduce(tab, rows, app, clone)
	if copies != 2 {
		t.Errorf("%d clones, want 2", copies)
	}
	(*tab.Value(0))[0] = 9
	if rows[0].Value[0] != 1 {
		t.Error("the table shares the first value with its row")
	}
	to := New[string, list](h, 0)
	for _, b := range tab.SplitHash(1) {
		Merge(to, b, app, clone)
	}
	if copies != 4 {
		t.Errorf("%d clones after Merge, want 4", copies)
	}
}

func TestRowNamesTheRecordThatPanicked(t *testing.T) {
	boom := errors.New("boom")
	const bad = 777
	rows := make([]Pair[int, int64], 1000)
	for i := range rows {
		rows[i] = Pair[int, int64]{i % 10, int64(i)}
	}
	f := func(a, b int64) int64 {
		if b == bad {
			panic(boom)
		}
		return a + b
	}
	h := mustHasher[int](t)
	block := &Block[int, int64]{}
	for _, r := range rows {
		block.Keys, block.Values = append(block.Keys, r.Key), append(block.Values, r.Value)
	}
	for name, run := range map[string]func(tab *Table[int, int64]){
		"Reduce":  func(tab *Table[int, int64]) { Reduce(tab, rows, f, nil) },
		"Combine": func(tab *Table[int, int64]) { Combine(tab, rows, func(v int64) int64 { return v }, f) },
		"Merge":   func(tab *Table[int, int64]) { Merge(tab, block, f, nil) },
	} {
		tab := New[int, int64](h, 0)
		func() {
			defer func() {
				if r := recover(); r != boom {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			run(tab)
		}()
		if tab.Row() != bad {
			t.Errorf("%s: Row %d, want %d", name, tab.Row(), bad)
		}
	}
}

func TestBulkLoopsAllocateNothingOnceGrown(t *testing.T) {
	words := make([]string, 3000)
	ones := make([]Pair[string, int64], len(words))
	nums := make([]Pair[int32, int64], len(words))
	points := make([]Pair[point, int64], len(words))
	for i := range words {
		words[i] = fmt.Sprintf("word %d", i%500)
		if i%50 == 0 {
			words[i] += " and more than fifteen bytes"
		}
		ones[i] = Pair[string, int64]{words[i], 1}
		nums[i] = Pair[int32, int64]{int32(i % 500), 1}
		points[i] = Pair[point, int64]{point{float64(i % 500), 0, words[i]}, 1}
	}
	ts, ti, tp := New[string, int64](mustHasher[string](t), 0), New[int32, int64](mustHasher[int32](t), 0), New[point, int64](mustHasher[point](t), 0)
	block := &Block[string, int64]{Keys: words, Values: make([]int64, len(words))}
	all := func() {
		Count(ts, words)
		Add(ts, ones)
		Reduce(ts, ones, sum64, nil)
		Combine(ts, ones, func(v int64) int64 { return v }, sum64)
		Merge(ts, block, sum64, nil)
		Reduce(ti, nums, sum64, nil)
		Reduce(tp, points, sum64, nil)
		ts.Upsert(words[0])
		tp.Find(points[7].Key)
	}
	all()
	if n := testing.AllocsPerRun(10, all); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestSplitDealsEveryEntryOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		words := rapid.SliceOfN(rapid.StringN(0, -1, 20), 0, 600).Draw(t, "words")
		nums := rapid.SliceOfN(rapid.Int16(), 0, 600).Draw(t, "nums")
		boxed := make([]any, len(nums))
		for i, x := range nums {
			if boxed[i] = x; x%2 == 0 {
				boxed[i] = float64(x)
			}
		}
		checkSplit(t, n, words)
		checkSplit(t, n, nums)
		checkSplit(t, n, boxed)
	})
}

// columns returns blocks with columns in place of packed entries.
func columns[K comparable, V any](packed []*Block[K, V]) []*Block[K, V] {
	blocks := make([]*Block[K, V], len(packed))
	for p, b := range packed {
		if b == nil {
			continue
		}
		blocks[p] = &Block[K, V]{Distinct: b.Distinct}
		for _, pair := range b.Pairs(nil, 0, b.Rows()) {
			blocks[p].Keys, blocks[p].Values = append(blocks[p].Keys, pair.Key), append(blocks[p].Values, pair.Value)
			blocks[p].Hashes = append(blocks[p].Hashes, b.Packed.entries.hasher.Hash(pair.Key))
		}
	}
	return blocks
}

func checkSplit[K comparable](t *rapid.T, n int, keys []K) {
	h, err := HasherFor[K]()
	if err != nil {
		t.Fatal(err)
	}
	tab := New[K, int64](h, 0)
	Count(tab, keys)
	want := make([]*Block[K, int64], n)
	for i := range tab.Len() {
		k := tab.Key(i)
		p := h.Partition(k, n)
		if want[p] == nil {
			want[p] = &Block[K, int64]{Distinct: true}
		}
		want[p].Keys = append(want[p].Keys, k)
		want[p].Values = append(want[p].Values, *tab.Value(i))
		want[p].Hashes = append(want[p].Hashes, h.Hash(k))
	}
	if diff := cmp.Diff(want, columns(tab.SplitHash(n))); diff != "" {
		t.Fatalf("SplitHash(%d) (-want +got):\n%s", n, diff)
	}
	got, err := tab.Split(n, func(k K) int { return h.Partition(k, n) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, columns(got)); diff != "" {
		t.Fatalf("Split(%d) (-want +got):\n%s", n, diff)
	}
	back := New[K, int64](h, 0)
	total := 0
	for p, b := range got {
		total += b.Rows()
		Merge(back, b, sum64, nil)
		if b != nil {
			for i, p := range want[p].Pairs(nil, 0, b.Rows()) {
				if got := b.Slice(i, i+1).Pairs(nil, 0, 1)[0]; !h.Equal(p.Key, got.Key) || p.Value != got.Value {
					t.Fatalf("Pairs of a block: got %v at %d", p, i)
				}
			}
		}
	}
	if total != tab.Len() || back.Len() != tab.Len() {
		t.Fatalf("%d rows in blocks, %d merged back, want %d", total, back.Len(), tab.Len())
	}
}

func TestSplitRefusesAnswersOutOfRange_P1(t *testing.T) {
	tab := New[int, int64](mustHasher[int](t), 0)
	Count(tab, []int{5, 6, 7})
	for _, answer := range []int{-1, 3} {
		_, err := tab.Split(3, func(k int) int {
			if k == 6 {
				return answer
			}
			return 0
		})
		var bad *PartitionError
		if !errors.Is(err, ErrBadPartition) || !errors.As(err, &bad) || *bad != (PartitionError{Entry: 1, Got: answer, Of: 3}) {
			t.Errorf("answer %d: got %v", answer, err)
		}
	}
	if b, err := tab.Split(0, nil); b != nil || err != nil {
		t.Errorf("Split(0): got %v, %v", b, err)
	}
	if b := tab.SplitHash(-1); b != nil {
		t.Errorf("SplitHash(-1): got %v", b)
	}
}

func FuzzTableOfStrings(f *testing.F) {
	f.Add([]byte("a b  c\x00 \x00c aaaaaaaaaaaaaaaa aaaaaaaaaaaaaaa"))
	f.Add([]byte("\xff \xff\xff  b"))
	h := mustHasher[string](f)
	f.Fuzz(func(t *testing.T, text []byte) {
		var words []string
		for w := range bytes.SplitSeq(text, []byte(" ")) {
			words = append(words, string(w))
		}
		tab := New[string, int64](h, 0)
		Count(tab, words)
		counts := make(map[string]int64)
		var order []string
		for _, w := range words {
			if counts[w] == 0 {
				order = append(order, w)
			}
			counts[w]++
		}
		for i, w := range order {
			if tab.Key(i) != w || *tab.Value(i) != counts[w] {
				t.Fatalf("entry %d: got %q %d, want %q %d", i, tab.Key(i), *tab.Value(i), w, counts[w])
			}
		}
		if tab.Len() != len(order) {
			t.Fatalf("%d entries, want %d", tab.Len(), len(order))
		}
	})
}

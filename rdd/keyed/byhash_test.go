package keyed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// agreeing returns a string whose hash is that of all others which it returns: the first word makes one factor of the hash zero.
func agreeing(x byte) string {
	return string(append(binary.LittleEndian.AppendUint64(nil, hashA), x))
}

// agreeingStruct is a key whose hash is the same for every First: the last word makes one factor of the hash zero.
type agreeingStruct struct{ First, Last uint64 }

// anyString draws strings that are short, long, and such that their hashes agree.
func anyString() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringN(0, 3, 6), rapid.StringN(0, 20, 40), rapid.Map(rapid.ByteRange(0, 9), agreeing))
}

// agreeingInts are pairs of integers that mixInt makes one of, for which 8, 16, 1<<15 and 1<<39 were solved.
func agreeingInts() []int64 {
	var ints []int64
	for _, x := range []uint64{0x38db0e087c7623a9, 0xc724f1f78389dc54, 0x6ed3c4438ed414d9, 0x912c3bbc712beb24,
		0x7140dd28ccc53259, 0x8ebf22d7333acda4, 0xecc265320d93ad6f, 0x133d9acdf26c52ee} {
		ints = append(ints, int64(x))
	}
	return ints
}

func anyInt() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64(), rapid.SampledFrom(agreeingInts()))
}

func TestIntegersWhoseHashesAgree(t *testing.T) {
	ints := agreeingInts()
	for i := 0; i < len(ints); i += 2 {
		if a, b := mixInt(uint64(ints[i])), mixInt(uint64(ints[i+1])); a != b || ints[i] == ints[i+1] {
			t.Errorf("%#x and %#x hash to %#x and %#x: the tests lack their collisions", uint64(ints[i]), uint64(ints[i+1]), a, b)
		}
	}
}

func anyStruct() *rapid.Generator[agreeingStruct] {
	return rapid.Custom(func(t *rapid.T) agreeingStruct {
		return agreeingStruct{rapid.Uint64Range(0, 9).Draw(t, "first"), rapid.SampledFrom([]uint64{hashA, 1, 2}).Draw(t, "last")}
	})
}

func TestRowsByHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkByHash(t, rapid.SliceOfN(anyString(), 0, 300))
		checkByHash(t, rapid.SliceOfN(rapid.Int8(), 0, 300))
		checkByHash(t, rapid.SliceOfN(anyInt(), 0, 300))
		checkByHash(t, rapid.SliceOfN(rapid.Float64(), 0, 100))
		checkByHash(t, rapid.SliceOfN(anyStruct(), 0, 100))
	})
}

// checkByHash compares ByHash with a stable sort.
func checkByHash[K comparable](t *rapid.T, some *rapid.Generator[[]K]) {
	h, err := HasherFor[K]()
	if err != nil {
		t.Fatal(err)
	}
	var rows []Pair[K, int]
	for i, k := range some.Draw(t, "keys") {
		rows = append(rows, Pair[K, int]{k, i})
	}
	p := NewPacked[K, int](h, 0)
	p.Append(rows)
	got := p.ByHash().Pairs(nil, 0, len(rows))
	slices.SortStableFunc(rows, func(a, b Pair[K, int]) int { return byHash(h, a.Key, b.Key) })
	if !samePairs(h, got, rows) {
		t.Fatalf("got %v, want %v", got, rows)
	}
}

func byHash[K comparable](h *Hasher[K], a, b K) int {
	t := Table[K, int]{hasher: h}
	switch x, y := t.spread(h.Hash(a)), t.spread(h.Hash(b)); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func samePairs[K, V comparable](h *Hasher[K], a, b []Pair[K, V]) bool {
	return slices.EqualFunc(a, b, func(x, y Pair[K, V]) bool { return h.Equal(x.Key, y.Key) && x.Value == y.Value })
}

func TestManyRowsByHash(t *testing.T) {
	h := mustHasher[string](t)
	for name, key := range map[string]func(i int) string{
		"spread evenly": func(i int) string { return fmt.Sprint(i * 7919 % 100_000) },
		"agreeing":      func(i int) string { return agreeing(byte(i * 7919 % 251)) },
		// Few distinct hashes, out of order: a bucket that is sorted.
		"few hashes": func(i int) string { return fmt.Sprint(i * 7919 % 5) },
	} {
		t.Run(name, func(t *testing.T) {
			var rows []Pair[string, int]
			for i := range 20_000 {
				rows = append(rows, Pair[string, int]{key(i), i})
			}
			p := NewPacked[string, int](h, 0)
			p.Append(rows)
			got := p.ByHash().Pairs(nil, 0, len(rows))
			slices.SortStableFunc(rows, func(a, b Pair[string, int]) int { return byHash(h, a.Key, b.Key) })
			if !samePairs(h, got, rows) {
				t.Error("the rows are in another order than that of a stable sort")
			}
		})
	}
}

func TestMergeByHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkMerge(t, rapid.SliceOfNDistinct(anyString(), 0, 300, rapid.ID))
		checkMerge(t, rapid.SliceOfNDistinct(rapid.Int8(), 0, 200, rapid.ID))
		checkMerge(t, rapid.SliceOfNDistinct(anyInt(), 0, 300, rapid.ID))
		checkMerge(t, rapid.SliceOfNDistinct(anyStruct(), 0, 30, rapid.ID))
	})
}

// text is a value whose function is associative and nothing else, and may change its first argument.
type text struct{ bytes []byte }

func appended(a, b *text) *text {
	a.bytes = append(a.bytes, b.bytes...)
	return a
}

func copied(a *text) *text { return &text{slices.Clone(a.bytes)} }

// checkMerge compares merges with what a table makes of the same rows.
func checkMerge[K comparable](t *rapid.T, some *rapid.Generator[[]K]) {
	h, err := HasherFor[K]()
	if err != nil {
		t.Fatal(err)
	}
	pack := func(keys []K, mark string) *Packed[K, *text] {
		p := NewPacked[K, *text](h, 0)
		for i, k := range keys {
			p.Append([]Pair[K, *text]{{k, &text{fmt.Appendf(nil, "%s%d ", mark, i)}}})
		}
		return p.ByHash()
	}
	left, right := some.Draw(t, "older"), some.Draw(t, "newer")
	for i := range right {
		if i < len(left) && rapid.Bool().Draw(t, "in both") && !slices.Contains(right, left[i]) {
			right[i] = left[i]
		}
	}
	older, newer := pack(left, "o"), pack(right, "n")
	want := New[K, string](h, 0)
	show := func(p *Packed[K, *text]) (rows []Pair[K, string]) {
		for _, r := range p.Pairs(nil, 0, p.Len()) {
			rows = append(rows, Pair[K, string]{r.Key, string(r.Value.bytes)})
		}
		return rows
	}
	kept := append(show(older), show(newer)...)
	Reduce(want, kept, func(a, b string) string { return a + b }, nil)

	merged := MergeByHash(older, newer, appended, copied)
	got := show(merged)
	if !slices.IsSortedFunc(got, func(a, b Pair[K, string]) int { return byHash(h, a.Key, b.Key) }) {
		t.Fatalf("%v is not in the order of hashes", got)
	}
	if len(got) != want.Len() {
		t.Fatalf("%d rows, want %d", len(got), want.Len())
	}
	for _, r := range got {
		if i, ok := want.Find(r.Key); !ok || *want.Value(i) != r.Value {
			t.Fatalf("got %v, want %v", got, want.Pairs(nil, 0, want.Len()))
		}
	}
	// In chunks the same rows come, which whoever gets them may change.
	var rows []Pair[K, string]
	chunk := rapid.IntRange(1, 64).Draw(t, "chunk")
	if err := EachMerged(older, newer, appended, copied, chunk, func(part []Pair[K, *text]) error {
		if len(part) == 0 {
			t.Fatal("an empty chunk")
		}
		for _, r := range part {
			rows = append(rows, Pair[K, string]{r.Key, string(r.Value.bytes)})
			clear(r.Value.bytes)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !samePairs(h, rows, got) {
		t.Fatalf("in chunks of %d: got %v, want %v", chunk, rows, got)
	}
	if after := append(show(older), show(newer)...); !samePairs(h, after, kept) || !samePairs(h, show(merged), got) {
		t.Fatal("a merge changed what it read, or its reader what it wrote")
	}
}

// Merges of many rows reckon how many there will be from the first; here that is wrong.
func TestMergeByHashOfRowsThatAgreeInNoKeyAfterTheFirst(t *testing.T) {
	h := mustHasher[int](t)
	var all []Pair[int, int]
	for i := range 60_000 {
		all = append(all, Pair[int, int]{i, 1})
	}
	p := NewPacked[int, int](h, 0)
	p.Append(all)
	sorted := p.ByHash().Pairs(nil, 0, len(all))
	of := func(rows []Pair[int, int]) *Packed[int, int] {
		p := NewPacked[int, int](h, 0)
		p.Append(rows)
		return p
	}
	var odd, even []Pair[int, int]
	for i, r := range sorted {
		if i < 5_000 || i%2 == 0 {
			even = append(even, r)
		}
		if i < 5_000 || i%2 == 1 {
			odd = append(odd, r)
		}
	}
	merged := MergeByHash(of(even), of(odd), func(a, b int) int { return a + b }, nil)
	for i, r := range merged.Pairs(nil, 0, merged.Len()) {
		want := 1
		if i < 5_000 {
			want = 2
		}
		if r.Key != sorted[i].Key || r.Value != want {
			t.Fatalf("row %d: got %v, want %v with %d", i, r, sorted[i], want)
		}
	}
	if merged.Len() != len(sorted) {
		t.Fatalf("%d rows, want %d", merged.Len(), len(sorted))
	}
	if held, needed := merged.Memory(), int64(16*len(sorted)); held > needed+needed/8 {
		t.Errorf("%d bytes are held, %d are needed", held, needed)
	}
}

func TestMergeByHashOfNothing(t *testing.T) {
	h := mustHasher[string](t)
	empty, some := NewPacked[string, int](h, 0), NewPacked[string, int](h, 0)
	some.Append([]Pair[string, int]{{"a", 1}})
	f := func(a, b int) int { return a + b }
	if got := MergeByHash[string, int](nil, nil, f, nil); got != nil {
		t.Errorf("got %v of nothing", got)
	}
	for _, nothing := range []*Packed[string, int]{nil, empty} {
		if MergeByHash(nothing, some, f, nil) != some || MergeByHash(some, nothing, f, nil) != some {
			t.Error("what has rows is not returned as it is")
		}
		for _, sides := range [][2]*Packed[string, int]{{nothing, some}, {some, nothing}} {
			n := 0
			if err := EachMerged(sides[0], sides[1], f, nil, 512, func(rows []Pair[string, int]) error {
				n += len(rows)
				return nil
			}); err != nil || n != 1 {
				t.Errorf("%d rows and error %v, want 1 row", n, err)
			}
		}
		if err := EachMerged(nothing, nothing, f, nil, 512, func([]Pair[string, int]) error { return errors.New("called") }); err != nil {
			t.Error(err)
		}
	}
}

func TestEachMergedStopsAtAnError(t *testing.T) {
	h := mustHasher[int](t)
	p := NewPacked[int, int](h, 0)
	for i := range 10 {
		p.Append([]Pair[int, int]{{i, i}})
	}
	stop, calls := errors.New("stop"), 0
	err := EachMerged(p.ByHash(), nil, nil, nil, 4, func(rows []Pair[int, int]) error {
		calls++
		return stop
	})
	if err != stop || calls != 1 {
		t.Errorf("got %v after %d calls, want %v after 1", err, calls, stop)
	}
}

// BenchmarkMergeByHash measures the combination of two windows of so many of a million keys, and beside it the same with a table, with
// a Go map and in a dense table of known keys.
func BenchmarkMergeByHash(b *testing.B) {
	const space = 1_000_000
	h := mustHasher[int64](b)
	larger := func(x, y int64) int64 { return max(x, y) }
	for _, c := range []struct {
		name         string
		older, newer int
	}{{"all of all", space, space}, {"batch into all", space, space / 10}, {"three in ten of all", space * 3 / 10, space * 3 / 10}} {
		draw := func(n int, seed uint64) *Packed[int64, int64] {
			rng := rand.New(rand.NewPCG(seed, 0))
			p := NewPacked[int64, int64](h, n)
			for _, k := range rng.Perm(space)[:n] {
				p.Append([]Pair[int64, int64]{{int64(k), rng.Int64N(1000)}})
			}
			return p
		}
		older, newer := draw(c.older, 1), draw(c.newer, 2)
		o, n := older.ByHash(), newer.ByHash()
		rows := c.older + c.newer
		perRecord := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/record")
			b.ReportMetric(0, "ns/op")
		}
		b.Run(c.name+"/by hash", func(b *testing.B) {
			for b.Loop() {
				MergeByHash(o, n, larger, nil)
			}
			perRecord(b)
		})
		b.Run(c.name+"/each by hash", func(b *testing.B) {
			for b.Loop() {
				var sum int64
				_ = EachMerged(o, n, larger, nil, 512, func(rows []Pair[int64, int64]) error {
					for i := range rows {
						sum += rows[i].Value
					}
					return nil
				})
			}
			perRecord(b)
		})
		b.Run(c.name+"/table", func(b *testing.B) {
			for b.Loop() {
				t := New[int64, int64](h, c.older)
				Merge(t, &Block[int64, int64]{Packed: older}, larger, nil)
				Merge(t, &Block[int64, int64]{Packed: newer}, larger, nil)
			}
			perRecord(b)
		})
		pairs := append(older.Pairs(nil, 0, older.Len()), newer.Pairs(nil, 0, newer.Len())...)
		b.Run(c.name+"/plain map", func(b *testing.B) {
			for b.Loop() {
				m := make(map[int64]int64, c.older)
				for _, p := range pairs {
					if v, ok := m[p.Key]; !ok || p.Value > v {
						m[p.Key] = p.Value
					}
				}
			}
			perRecord(b)
		})
		b.Run(c.name+"/plain dense", func(b *testing.B) {
			for b.Loop() {
				m := make([]int64, space)
				for _, p := range pairs {
					m[p.Key] = max(m[p.Key], p.Value)
				}
			}
			perRecord(b)
		})
	}
}

// BenchmarkByHash measures putting a batch in order, and beside it a sort of the same hashes.
func BenchmarkByHash(b *testing.B) {
	h := mustHasher[int64](b)
	for _, n := range []int{100, 10_000, 100_000} {
		p := NewPacked[int64, int64](h, n)
		for i := range n {
			p.Append([]Pair[int64, int64]{{int64(i) * 7919, 1}})
		}
		perRecord := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
			b.ReportMetric(0, "ns/op")
		}
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			for b.Loop() {
				p.ByHash()
			}
			perRecord(b)
		})
		b.Run(fmt.Sprintf("plain sort/rows=%d", n), func(b *testing.B) {
			hashes := make([]uint64, n)
			for b.Loop() {
				for i := range hashes {
					hashes[i] = mixInt(uint64(i) * 7919)
				}
				slices.Sort(hashes)
			}
			perRecord(b)
		})
	}
}

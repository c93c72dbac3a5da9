package keyed

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A model is what a table should be: pairs in order, searched one by one.
type model[K comparable] struct {
	same  func(a, b K) bool
	pairs []Pair[K, int64]
}

func (m *model[K]) reduce(k K, v int64) {
	for i := range m.pairs {
		if m.same(m.pairs[i].Key, k) {
			// Neither commutative nor associative, so that order shows.
			m.pairs[i].Value = m.pairs[i].Value*3 + v
			return
		}
	}
	m.pairs = append(m.pairs, Pair[K, int64]{k, v})
}

func times3(a, b int64) int64 { return a*3 + b }

// checkModel drives a table and a model of it through the same random rows. With crowded every key collides with every other.
func checkModel[K comparable](t *testing.T, gen *rapid.Generator[K], same func(a, b K) bool) {
	t.Helper()
	h := mustHasher[K](t)
	for _, crowded := range []bool{false, true} {
		name := map[bool]string{false: "spread", true: "colliding"}[crowded]
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			tab := New[K, int64](h, rapid.IntRange(0, 50).Draw(t, "capacity"))
			if crowded {
				tab = New[K, int64](h, 0)
				tab.crowded = true
			}
			m := &model[K]{same: same}
			for range rapid.IntRange(1, 4).Draw(t, "steps") {
				n := rapid.SampledFrom([]int{0, 1, 20, 600}).Draw(t, "rows")
				// Few or many keys, each more than once.
				some := rapid.SliceOfN(gen, n/10+1, n/2+1).Draw(t, "some")
				keys := rapid.SliceOfN(rapid.SampledFrom(some), n, n).Draw(t, "keys")
				rows := make([]Pair[K, int64], len(keys))
				for i, k := range keys {
					rows[i] = Pair[K, int64]{k, int64(i)}
				}
				switch rapid.SampledFrom([]string{"reduce", "upsert", "merge", "clone"}).Draw(t, "step") {
				case "reduce":
					Reduce(tab, rows, times3, nil)
				case "upsert":
					for _, r := range rows {
						i, fresh := tab.Upsert(r.Key)
						if v := tab.Value(i); fresh {
							*v = r.Value
						} else {
							*v = *v*3 + r.Value
						}
					}
				case "merge":
					b := &Block[K, int64]{}
					for _, r := range rows {
						b.Keys, b.Values = append(b.Keys, r.Key), append(b.Values, r.Value)
						b.Hashes = append(b.Hashes, h.Hash(r.Key))
					}
					if rapid.Bool().Draw(t, "without hashes") {
						b.Hashes = nil
					}
					Merge(tab, b, times3, nil)
				case "clone":
					was := tab
					tab = tab.Clone()
					Reduce(tab, rows, times3, nil)
					was.Reset()
					Reduce(was, rows, times3, nil) // must not show in the clone
				}
				for _, r := range rows {
					m.reduce(r.Key, r.Value)
				}
				compareModel(t, tab, m)
			}
		}))
	}
}

func compareModel[K comparable](t *rapid.T, tab *Table[K, int64], m *model[K]) {
	if tab.Len() != len(m.pairs) {
		t.Fatalf("%d entries, want %d", tab.Len(), len(m.pairs))
	}
	got := tab.Pairs(nil, 0, tab.Len())
	keys := tab.Keys(nil, 0, tab.Len())
	for i, want := range m.pairs {
		if !m.same(got[i].Key, want.Key) || got[i].Value != want.Value {
			t.Fatalf("entry %d: got %v, want %v", i, got[i], want)
		}
		if !m.same(tab.Key(i), want.Key) || !m.same(keys[i], want.Key) || *tab.Value(i) != want.Value {
			t.Fatalf("entry %d: Key %v, Keys %v, Value %d, want %v", i, tab.Key(i), keys[i], *tab.Value(i), want)
		}
		if h := tab.Hasher().Hash(want.Key); tab.HashAt(i) != h {
			t.Fatalf("entry %d: HashAt %#x, want %#x", i, tab.HashAt(i), h)
		}
		if j, ok := tab.Find(want.Key); !ok || j != i {
			t.Fatalf("Find(%v) = %d, %v, want %d", want.Key, j, ok, i)
		}
	}
}

func equals[K comparable](a, b K) bool { return a == b }

func sameFloat(a, b float64) bool { return a == b || a != a && b != b }

func TestTableIsItsModel(t *testing.T) {
	// Short and long, with zeros and bytes that are no UTF-8, and with many equal prefixes.
	bytesOf := rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(0, 20).Draw(t, "n")
		if rapid.Bool().Draw(t, "long") {
			n = 20 - n
		}
		return string(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 'a', 0xff}), n, n).Draw(t, "b"))
	})
	floats := rapid.OneOf(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), -math.NaN(), math.Inf(1)}), rapid.Float64())
	t.Run("string", func(t *testing.T) { checkModel(t, bytesOf, equals) })
	t.Run("named string", func(t *testing.T) {
		type word string
		checkModel(t, rapid.Map(bytesOf, func(s string) word { return word(s) }), equals)
	})
	t.Run("int8", func(t *testing.T) { checkModel(t, rapid.Int8(), equals) })
	t.Run("int16", func(t *testing.T) { checkModel(t, rapid.Int16(), equals) })
	t.Run("int32", func(t *testing.T) { checkModel(t, rapid.Int32(), equals) })
	t.Run("int64", func(t *testing.T) { checkModel(t, rapid.Int64(), equals) })
	t.Run("int", func(t *testing.T) { checkModel(t, rapid.IntRange(-5, 5), equals) })
	t.Run("uint8", func(t *testing.T) { checkModel(t, rapid.Uint8(), equals) })
	t.Run("uint16", func(t *testing.T) { checkModel(t, rapid.Uint16(), equals) })
	t.Run("uint32", func(t *testing.T) { checkModel(t, rapid.Uint32(), equals) })
	t.Run("uint64", func(t *testing.T) { checkModel(t, rapid.Uint64(), equals) })
	t.Run("named int", func(t *testing.T) {
		checkModel(t, rapid.Map(rapid.Int8(), func(i int8) weekday { return weekday(i) }), equals)
	})
	t.Run("bool", func(t *testing.T) { checkModel(t, rapid.Bool(), equals) })
	t.Run("float64", func(t *testing.T) { checkModel(t, floats, sameFloat) })
	t.Run("bytes", func(t *testing.T) {
		checkModel(t, rapid.Map(rapid.Uint16(), func(u uint16) [3]byte { return [3]byte{byte(u), byte(u >> 8), 1} }), equals)
	})
	t.Run("plain struct", func(t *testing.T) {
		type key struct {
			N uint8
			S string
		}
		checkModel(t, rapid.Custom(func(t *rapid.T) key { return key{rapid.Uint8Max(3).Draw(t, "n"), bytesOf.Draw(t, "s")} }), equals)
	})
	t.Run("struct with floats", func(t *testing.T) {
		checkModel(t, rapid.Custom(func(t *rapid.T) point {
			return point{floats.Draw(t, "x"), floats.Draw(t, "y"), "p"}
		}), func(a, b point) bool { return sameFloat(a.X, b.X) && sameFloat(a.Y, b.Y) && a.Name == b.Name })
	})
	t.Run("any", func(t *testing.T) {
		small := rapid.IntRange(-2, 2)
		gen := rapid.OneOf(
			rapid.Map(small, func(i int) any { return i }),
			rapid.Map(small, func(i int) any { return int64(i) }),
			rapid.Map(small, func(i int) any { return uint8(i) }),
			rapid.Map(bytesOf, func(s string) any { return s }),
			rapid.Map(floats, func(f float64) any { return f }),
			rapid.Map(floats, func(f float64) any { return point{X: f, Name: "p"} }),
			rapid.Just(any(nil)),
		)
		checkModel(t, gen, func(a, b any) bool {
			if x, ok := a.(float64); ok {
				y, ok := b.(float64)
				return ok && sameFloat(x, y)
			}
			if x, ok := a.(point); ok {
				y, ok := b.(point)
				return ok && sameFloat(x.X, y.X)
			}
			return a == b
		})
	})
	t.Run("empty struct", func(t *testing.T) { checkModel(t, rapid.Just(struct{}{}), equals) })
}

func TestTableKeepsKeysCanonical_G3(t *testing.T) {
	tab := New[float64, int64](mustHasher[float64](t), 0)
	Count(tab, []float64{math.Copysign(0, -1), 0, math.Float64frombits(0xfff8000000000001), math.NaN()})
	if tab.Len() != 2 || *tab.Value(0) != 2 || *tab.Value(1) != 2 {
		t.Fatalf("got %v", tab.Pairs(nil, 0, tab.Len()))
	}
	if z, n := math.Float64bits(tab.Key(0)), math.Float64bits(tab.Key(1)); z != 0 || n != nan64 {
		t.Errorf("keys kept as %#x and %#x", z, n)
	}
}

func TestWholeHashesThatAgreeDoNotMergeKeys(t *testing.T) {
	long := func(c string) string { return strings.Repeat(c, 20) }
	tab := New[string, int64](mustHasher[string](t), 0)
	Merge(tab, &Block[string, int64]{Keys: []string{long("a"), long("b"), long("a")}, Values: []int64{1, 2, 4}, Hashes: []uint64{7, 7, 7}}, sum64, nil)
	if diff := cmp.Diff([]Pair[string, int64]{{long("a"), 5}, {long("b"), 2}}, tab.Pairs(nil, 0, tab.Len())); diff != "" {
		t.Errorf("long strings (-want +got):\n%s", diff)
	}
	type plain struct{ A, B int }
	plains := New[plain, int64](mustHasher[plain](t), 0)
	Merge(plains, &Block[plain, int64]{Keys: []plain{{1, 1}, {2, 2}, {1, 1}}, Values: []int64{1, 2, 4}, Hashes: []uint64{7, 7, 7}}, sum64, nil)
	if diff := cmp.Diff([]Pair[plain, int64]{{plain{1, 1}, 5}, {plain{2, 2}, 2}}, plains.Pairs(nil, 0, plains.Len())); diff != "" {
		t.Errorf("plain structs (-want +got):\n%s", diff)
	}
	pts := New[point, int64](mustHasher[point](t), 0)
	Merge(pts, &Block[point, int64]{Keys: []point{{1, 1, ""}, {2, 2, ""}, {1, 1, ""}}, Values: []int64{1, 2, 4}, Hashes: []uint64{7, 7, 7}}, sum64, nil)
	if diff := cmp.Diff([]Pair[point, int64]{{point{1, 1, ""}, 5}, {point{2, 2, ""}, 2}}, pts.Pairs(nil, 0, pts.Len())); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}

func TestTableGrowsThroughManyKeys(t *testing.T) {
	const n = 100_000
	ints := New[int32, int64](mustHasher[int32](t), 0)
	keys := make([]int32, n)
	for i := range keys {
		keys[i] = int32(i-n/2) * 4096
	}
	Count(ints, keys)
	Count(ints, keys)
	if ints.Len() != n {
		t.Fatalf("%d entries, want %d", ints.Len(), n)
	}
	for i, k := range keys {
		if j, ok := ints.Find(k); !ok || j != i || *ints.Value(i) != 2 {
			t.Fatalf("key %d: entry %d, %v, value %d", k, j, ok, *ints.Value(i))
		}
	}
	if _, ok := ints.Find(1); ok {
		t.Error("found a key that is not there")
	}
}

// A key cut from a big buffer must not keep the buffer, so its bytes must lie elsewhere.
func TestTableCopiesStringKeys(t *testing.T) {
	type key struct{ S string }
	text := strings.Repeat("0123456789abcdef", 4)
	within := func(s string) bool {
		p, from := uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(unsafe.Pointer(unsafe.StringData(text)))
		return p >= from && p < from+uintptr(len(text))
	}
	words := New[string, int64](mustHasher[string](t), 0)
	Count(words, []string{text[:5], text[3:40]})
	structs := New[key, int64](mustHasher[key](t), 0)
	Count(structs, []key{{text[:5]}})
	boxed := New[any, int64](mustHasher[any](t), 0)
	Count(boxed, []any{text[:5], key{text[1:5]}})
	for _, s := range []string{words.Key(0), words.Key(1), words.Pairs(nil, 0, 2)[1].Key, structs.Key(0).S, boxed.Key(0).(string), boxed.Key(1).(key).S} {
		if within(s) {
			t.Errorf("key %q still lies in the caller's text", s)
		}
	}
	if words.Key(1) != text[3:40] || boxed.Key(1).(key).S != text[1:5] {
		t.Error("a copied key has other bytes")
	}
}

func TestResetEmptiesAndLeavesEmittedKeysAlone(t *testing.T) {
	tab := New[string, int64](mustHasher[string](t), 0)
	old := []string{"short", "a string of more than fifteen"}
	Count(tab, old)
	got := tab.Keys(nil, 0, 2)
	one := tab.Key(1)
	tab.Reset()
	if _, ok := tab.Find("short"); ok || tab.Len() != 0 {
		t.Fatal("keys after Reset")
	}
	Count(tab, []string{"other", "another string of more than that"})
	if diff := cmp.Diff(old, append(got[:1:1], one)); diff != "" {
		t.Errorf("emitted keys (-want +got):\n%s", diff)
	}
	if *tab.Value(0) != 1 {
		t.Errorf("value after Reset: got %d, want 1", *tab.Value(0))
	}
}

func TestEntriesHoldNoPointersOfTheirOwn(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[wordEntry[int64]](), reflect.TypeFor[intEntry[int64]]()} {
		if _, bad := newLayout(typ, new(types), "key"); bad != nil || typ.Field(0).Type.Kind() != reflect.Uint64 {
			t.Errorf("%v holds a pointer: %v", typ, bad)
		}
	}
}

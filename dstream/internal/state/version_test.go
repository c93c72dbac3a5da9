package state

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

func hasher[K comparable](t interface{ Fatal(...any) }) *keyed.Hasher[K] {
	h, err := keyed.HasherFor[K]()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// pair is a key with its state.
type pair[K comparable, S any] struct {
	Key   K
	State S
}

// contents reads a version whole, in its order.
func contents[K comparable, S any](v *Version[K, S]) []pair[K, S] {
	rows := []pair[K, S]{}
	v.Each(func(k K, s *S) bool {
		rows = append(rows, pair[K, S]{k, *s})
		return true
	})
	return rows
}

type pairOf = keyed.Pair[int, struct{}]

// same reports whether two versions have the same states in the same order.
func same[K, S comparable](a, b *Version[K, S]) bool { return slices.Equal(contents(a), contents(b)) }

// Versions are compared with a map for each; at the end all of them are read again.
func TestVersionsAgreeWithMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hasher[string](t)
		v, model := new(Version[string, int]), map[string]int{}
		type saved struct {
			version *Version[string, int]
			model   map[string]int
			rows    []pair[string, int]
		}
		var all []saved
		for range rapid.IntRange(1, 30).Draw(t, "versions") {
			if len(all) > 0 && rapid.IntRange(0, 5).Draw(t, "from an older one") == 0 {
				from := all[rapid.IntRange(0, len(all)-1).Draw(t, "version")]
				v, model = from.version, maps.Clone(from.model)
			}
			u := v.Update(h, rapid.IntRange(0, 12).Draw(t, "expected"))
			if rapid.IntRange(0, 9).Draw(t, "rebuild") == 0 {
				u = Rebuild[string, int](h, v.Len())
				model = map[string]int{}
			}
			for range rapid.IntRange(0, 20).Draw(t, "changes") {
				k := fmt.Sprint(rapid.IntRange(0, 40).Draw(t, "key"))
				if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
					u.Delete(k)
					delete(model, k)
				} else if s := rapid.Int().Draw(t, "state"); rapid.Bool().Draw(t, "in place") {
					// By number, as many at once do it.
					var at [1]int32
					Touch(u, []keyed.Pair[string, struct{}]{{Key: k}}, at[:])
					keep := s%3 != 0
					_, had := model[k]
					switch _, ok := u.At(at[0]); {
					case ok != had:
						t.Fatalf("At says that %s had state: not %t", k, had)
					case had && keep:
						u.Set(at[0], s)
						model[k] = s
					case had:
						u.Unset(at[0])
						delete(model, k)
					}
				} else {
					u.Put(k, s)
					model[k] = s
				}
				got, ok := u.Get(k)
				if want, has := model[k]; ok != has || got != want {
					t.Fatalf("the update has %d, %t for %s, want %d, %t", got, ok, k, want, has)
				}
			}
			v = u.Done()
			all = append(all, saved{v, maps.Clone(model), contents(v)})
		}
		for i, s := range all {
			rows := contents(s.version)
			if diff := cmp.Diff(rows, s.rows, cmp.AllowUnexported(pair[string, int]{})); diff != "" {
				t.Fatalf("version %d changed:\n%s", i, diff)
			}
			got := map[string]int{}
			for _, r := range rows {
				if _, twice := got[r.Key]; twice {
					t.Fatalf("version %d yields %s twice", i, r.Key)
				}
				got[r.Key] = r.State
			}
			if diff := cmp.Diff(got, s.model); diff != "" || s.version.Len() != len(s.model) {
				t.Fatalf("version %d of length %d (-got +want):\n%s", i, s.version.Len(), diff)
			}
			for k := range 41 {
				key := fmt.Sprint(k)
				state, ok := s.version.Get(key)
				if want, has := s.model[key]; ok != has || state != want {
					t.Fatalf("version %d has %d, %t for %s, want %d, %t", i, state, ok, key, want, has)
				}
			}
		}
	})
}

func TestOrderIsThatOfTheChanges(t *testing.T) {
	build := func() *Version[int, int] {
		h := hasher[int](t)
		v := new(Version[int, int])
		for batch := range 50 {
			u := v.Update(h, 0)
			for i := range 7 {
				k := (batch*31 + i*17) % 90
				if (batch+i)%5 == 0 {
					u.Delete(k)
				} else {
					u.Put(k, batch)
				}
			}
			v = u.Done()
		}
		return v
	}
	if diff := cmp.Diff(contents(build()), contents(build()), cmp.AllowUnexported(pair[int, int]{})); diff != "" {
		t.Errorf("the same changes give another order:\n%s", diff)
	}
}

func TestEachStopsWhenToldTo(t *testing.T) {
	u := new(Version[int, int]).Update(hasher[int](t), 0)
	for k := range 5 {
		u.Put(k, k)
	}
	var seen []int
	u.Done().Each(func(k int, _ *int) bool {
		seen = append(seen, k)
		return len(seen) < 2
	})
	if diff := cmp.Diff(seen, []int{0, 1}); diff != "" {
		t.Error(diff)
	}
}

func TestEncodedVersionIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hasher[string](t)
		v := new(Version[string, []int])
		for batch := range rapid.IntRange(0, 10).Draw(t, "batches") {
			u := v.Update(h, 0)
			for _, k := range rapid.SliceOfN(rapid.StringN(0, 3, 20), 0, 10).Draw(t, "keys") {
				if batch%3 == 2 {
					u.Delete(k)
				} else {
					u.Put(k, []int{batch, len(k)})
				}
			}
			v = u.Done()
		}
		data, err := v.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got := new(Version[string, []int])
		if err := got.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(contents(got), contents(v), cmp.AllowUnexported(pair[string, []int]{})); diff != "" || got.Len() != v.Len() {
			t.Fatalf("length %d, want %d (-got +want):\n%s", got.Len(), v.Len(), diff)
		}
		// A decoded version goes on exactly as the encoded one: in the same order, also of keys that return.
		again := func(v *Version[string, []int]) []pair[string, []int] {
			u := v.Update(h, 3)
			for _, k := range []string{"", "a", "b"} {
				u.Put(k, []int{1})
			}
			return contents(u.Done())
		}
		if diff := cmp.Diff(again(got), again(v), cmp.AllowUnexported(pair[string, []int]{})); diff != "" {
			t.Fatalf("the next versions differ (-got +want):\n%s", diff)
		}
	})
}

func TestVersionIsSharedAndCrossesAsARecord(t *testing.T) {
	if codec.CloneFunc[*Version[string, []int]]() != nil {
		t.Error("a version would be copied for each reader")
	}
	c, err := codec.For[*Version[string, int]]()
	if err != nil {
		t.Fatal(err)
	}
	u := new(Version[string, int]).Update(hasher[string](t), 0)
	u.Put("a", 1)
	data, err := c.Append(nil, []*Version[string, int]{u.Done()})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.Decode(data)
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	if s, ok := rows[0].Get("a"); !ok || s != 1 {
		t.Errorf("got %d, %t", s, ok)
	}
}

func TestDamagedVersionsAreRefused(t *testing.T) {
	u := new(Version[string, int]).Update(hasher[string](t), 0)
	for k := range 20 {
		u.Put(fmt.Sprint(k), k)
	}
	data, err := u.Done().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if err := new(Version[string, int]).UnmarshalBinary(data[:i]); err == nil {
			t.Errorf("%d of %d bytes were taken", i, len(data))
		}
		bad := append([]byte(nil), data...)
		bad[i] ^= 0x10
		if err := new(Version[string, int]).UnmarshalBinary(bad); err == nil {
			t.Errorf("a change of byte %d was not seen", i)
		}
	}
}

package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dated is a state with the time it was last put.
type dated struct {
	Value int
	At    int64
}

// byTime are the keys whose state was put before a time.
func byTime(v *Version[int, dated], before int64) []int {
	keys := []int{}
	v.Each(func(k int, s *dated) bool {
		if s.At < before {
			keys = append(keys, k)
		}
		return true
	})
	return keys
}

// all are the keys with state.
func all(v *Version[int, dated]) []int { return byTime(v, 1<<60) }

// put returns the version after one change.
func put(t *testing.T, v *Version[int, dated], k, value int, at int64) *Version[int, dated] {
	u := v.Update(hasher[int](t), 0)
	u.Put(k, dated{value, at})
	return u.Done()
}

func remove(t *testing.T, v *Version[int, dated], k int) *Version[int, dated] {
	u := v.Update(hasher[int](t), 0)
	u.Delete(k)
	return u.Done()
}

func keys(t *testing.T, what string, got []int, want ...int) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func has(t *testing.T, what string, v *Version[int, dated], k int, want bool) {
	t.Helper()
	if _, ok := v.Get(k); ok != want {
		t.Errorf("%s: key %d has state: %t", what, k, ok)
	}
}

// The cases of a state map, each with another update for every step, as each batch makes one.
func TestStateMap(t *testing.T) {
	t.Run("SM1", func(t *testing.T) {
		v := put(t, put(t, nil, 1, 100, 10), 2, 200, 20)
		keys(t, "before 10", byTime(v, 10))
		keys(t, "before 11", byTime(v, 11), 1)
		keys(t, "before 21", byTime(v, 21), 1, 2)
		v = remove(t, v, 1)
		has(t, "after removal", v, 1, false)
		keys(t, "after removal", all(v), 2)
	})
	t.Run("SM2", func(t *testing.T) {
		parent := put(t, nil, 2, 200, 2)
		child := remove(t, put(t, parent, 3, 300, 3), 2)
		keys(t, "child", all(child), 3)
		keys(t, "parent", all(parent), 2)
		child = put(t, child, 2, 9, 7)
		keys(t, "child before 7", byTime(child, 7), 3)
		keys(t, "child before 8", byTime(child, 8), 2, 3)
		keys(t, "parent", all(parent), 2)
		if s, _ := parent.Get(2); s != (dated{200, 2}) {
			t.Errorf("the parent has %v", s)
		}
	})
	t.Run("SM3", func(t *testing.T) {
		first := put(t, put(t, nil, 1, 1, 1), 2, 2, 1)
		child := remove(t, first, 1)
		grandchild := put(t, child, 3, 3, 2)
		has(t, "grandchild", grandchild, 1, false)
		revived := put(t, grandchild, 1, 5, 3)
		has(t, "revived", revived, 1, true)
		has(t, "child", child, 1, false)
		has(t, "grandchild", grandchild, 1, false)
		has(t, "first", first, 1, true)
	})
	t.Run("SM4", func(t *testing.T) {
		var none *Version[int, dated]
		for _, empty := range []*Version[int, dated]{none, new(Version[int, dated])} {
			after := remove(t, empty, 1)
			keys(t, "empty", byTime(after, 100))
			if after.Len() != 0 {
				t.Errorf("%d keys", after.Len())
			}
			one := put(t, empty, 1, 1, 1) // the empty version itself takes nothing
			if one.Len() != 1 || empty.Len() != 0 {
				t.Errorf("%d keys, and %d in the empty version", one.Len(), empty.Len())
			}
		}
	})
	t.Run("SM5", func(t *testing.T) {
		// There is no chain that grows: however many updates went before, reading the newest version costs the same, and
		// what is decoded goes on like what was encoded.
		var v *Version[int, dated]
		for b := range 100 {
			v = put(t, v, b%7, b, int64(b))
			if b%5 == 4 {
				v = remove(t, v, b%7)
			}
		}
		if v.next != nil {
			t.Fatal("the newest version is not the newest")
		}
		data, err := v.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got := new(Version[int, dated])
		if err := got.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if !same(got, v) || got.next != nil {
			t.Errorf("got %v, want %v", contents(got), contents(v))
		}
		if !same(put(t, got, 50, 1, 1), put(t, v, 50, 1, 1)) {
			t.Error("the next versions differ")
		}
	})
}

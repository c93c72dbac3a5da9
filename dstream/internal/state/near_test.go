package state

import (
	"fmt"
	"slices"
	"testing"

	"github.com/leat-io/leat/rdd/keyed"
)

// Batches enter and leave again ten batches later, found near where they were or anywhere. The states must be the same.
func TestTouchedNearIsTouched(t *testing.T) {
	h := hasher[string](t)
	const window, batches, each = 10, 60, 900
	rowsOf := func(batch int) *keyed.Packed[string, int] {
		p := keyed.NewPacked[string, int](h, each)
		for i := range each {
			k := fmt.Sprint((batch*37 + i*11) % 2500)
			if i%5 == 0 {
				k += " of more than fifteen bytes"
			}
			p.Append([]keyed.Pair[string, int]{{Key: k, Value: i}})
		}
		return p
	}
	slide := func(near bool) (versions []*Version[string, int]) {
		v := new(Version[string, int])
		places := make([][]int32, batches)
		var at [each]int32
		for b := range batches {
			u := v.Update(h, each)
			if b >= window {
				rows := rowsOf(b - window)
				if near {
					TouchPackedNear(u, rows, 0, each, places[b-window], at[:])
				} else {
					TouchPacked(u, rows, 0, each, at[:])
				}
				for i, at := range at {
					if s, ok := u.At(at); ok {
						if s -= *rows.Values().At(i); s == 0 {
							u.Unset(at)
						} else {
							u.Set(at, s)
						}
					}
				}
			}
			rows := rowsOf(b)
			TouchPacked(u, rows, 0, each, at[:])
			places[b] = make([]int32, each)
			u.Places(at[:], places[b])
			for i, at := range at {
				s, _ := u.At(at)
				u.Set(at, s+*rows.Values().At(i))
			}
			v = u.Done()
			versions = append(versions, v)
		}
		return versions
	}
	plain, near := slide(false), slide(true)
	for i := range plain {
		if !same(plain[i], near[i]) {
			t.Fatalf("version %d differs", i)
		}
	}
}

// What was lent of a version stays as it was while updates go on from it, and is what Project shows.
func TestLentKeysStayGood(t *testing.T) {
	h := hasher[string](t)
	v := new(Version[string, int])
	var all [][]keyed.Pair[string, int]
	var want [][]keyed.Pair[string, int]
	for batch := range 40 {
		u := v.Update(h, 0)
		for i := range 200 {
			k := fmt.Sprint(batch*50+i, " key of some length"[:i%19])
			if i%7 == 0 {
				u.Delete(k)
			} else {
				u.Put(k, batch)
			}
		}
		v = u.Done()
		var lent, copied []keyed.Pair[string, int]
		pick := func(s *int) int { return *s + 1 }
		ProjectLent(v, pick, func(rows []keyed.Pair[string, int]) bool {
			lent = append(lent, rows...)
			return true
		})
		Project(v, pick, func(rows []keyed.Pair[string, int]) bool {
			copied = append(copied, rows...)
			return true
		})
		all, want = append(all, lent), append(want, copied)
	}
	for i := range all {
		if !slices.Equal(all[i], want[i]) {
			t.Errorf("batch %d: lent %d rows are not the %d copied", i, len(all[i]), len(want[i]))
		}
	}
}

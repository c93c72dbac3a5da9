package state

import (
	"math"
	"testing"
)

// written is how many cells a version has that the one before did not.
func written[K comparable, S any](before, after *Version[K, S]) int {
	shared := map[*table[K, S]]bool{}
	for _, t := range before.levels {
		shared[t] = true
	}
	cells := 0
	for _, t := range after.levels {
		if !shared[t] {
			cells += t.Len()
		}
	}
	return cells
}

// filled is a version with keys 0 to n-1.
func filled(t *testing.T, n int) *Version[int, int] {
	u := new(Version[int, int]).Update(hasher[int](t), 0)
	for k := range n {
		u.Put(k, 0)
	}
	return u.Done()
}

func TestCellsCopiedForEachKeyTouched(t *testing.T) {
	for _, keys := range []int{1_000, 10_000, 100_000} {
		for _, touched := range []int{1, 10, 100} {
			h := hasher[int](t)
			v := filled(t, keys)
			// Long enough for the changes to work their way into the oldest table several times.
			batches := 4 * keys / touched / mergeRatio
			cells := 0
			for b := range batches {
				u := v.Update(h, 0)
				for i := range touched {
					u.Put((b*touched+i)*7919%keys, b)
				}
				next := u.Done()
				cells += written(v, next)
				v = next
			}
			perKey := float64(cells) / float64(batches*touched)
			limit := (mergeRatio + 1) * (1 + math.Log2(float64(keys))/math.Log2(mergeRatio))
			if perKey > limit {
				t.Errorf("keys=%d touched=%d: %.1f cells are copied for each key touched, want at most %.1f", keys, touched, perKey, limit)
			}
		}
	}
}

func TestTablesGrowSmallerByTheRatio(t *testing.T) {
	h := hasher[int](t)
	v := filled(t, 5_000)
	for b := range 2_000 {
		u := v.Update(h, 0)
		u.Put(b*31%7_000, b)
		u.Put(b*17%7_000, b)
		v = u.Done()
		for i := 1; i < len(v.levels); i++ {
			if v.levels[i].Len()*mergeRatio >= v.levels[i-1].Len() {
				t.Fatalf("batch %d: table %d has %d cells, the one before it %d", b, i, v.levels[i].Len(), v.levels[i-1].Len())
			}
		}
	}
}

func TestRemovedKeysLeaveNothingBehind(t *testing.T) {
	h := hasher[int](t)
	v := new(Version[int, int])
	for b := range 3_000 {
		u := v.Update(h, 0)
		u.Put(b, b)
		if b >= 10 {
			u.Delete(b - 10)
		}
		v = u.Done()
	}
	cells := 0
	for _, l := range v.levels {
		cells += l.Len()
	}
	if v.Len() != 10 || cells > 100 {
		t.Errorf("%d keys in %d cells, want 10 in few more", v.Len(), cells)
	}
}

func TestUpdateWithoutChangesSharesEverything(t *testing.T) {
	v := filled(t, 100)
	next := v.Update(hasher[int](t), 0).Done()
	if n := written(v, next); n != 0 || next.Len() != 100 {
		t.Errorf("%d cells were copied, %d keys", n, next.Len())
	}
}

func TestUpdateOfNothing(t *testing.T) {
	var none *Version[int, int]
	u := none.Update(hasher[int](t), 0)
	u.Delete(1)
	u.Put(2, 3)
	v := u.Done()
	if s, ok := v.Get(2); !ok || s != 3 || v.Len() != 1 {
		t.Errorf("got %d, %t of %d keys", s, ok, v.Len())
	}
}

package state

import (
	"sync"
	"testing"
)

// filled is a version with keys 0 to n-1.
func filled(t testing.TB, n int) *Version[int, int] {
	u := new(Version[int, int]).Update(hasher[int](t), 0)
	for k := range n {
		u.Put(k, 0)
	}
	return u.Done()
}

// A batch costs what it touches: nothing of the size of the state is allocated.
func TestUpdateAllocatesForTheKeysTouched(t *testing.T) {
	h := hasher[int](t)
	for _, keys := range []int{1_000, 100_000} {
		v := filled(t, keys)
		b := 0
		bytes := testing.Benchmark(func(bench *testing.B) {
			bench.ReportAllocs()
			for bench.Loop() {
				u := v.Update(h, 0)
				for i := range 10 {
					u.Put((b*10+i)*7919%keys, b)
				}
				v, b = u.Done(), b+1
			}
		}).AllocedBytesPerOp()
		if bytes > 2000 {
			t.Errorf("keys=%d: %d bytes for 10 keys touched", keys, bytes)
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
		if v.size > 2*v.live+64 {
			t.Fatalf("batch %d: %d keys in %d entries", b, v.live, v.size)
		}
	}
	if v.Len() != 10 {
		t.Errorf("%d keys, want 10", v.Len())
	}
	u := v.Update(h, 0)
	for b := range 3_000 {
		u.Delete(b)
	}
	for b := range 100 {
		u.Delete(b)
	}
	if v = u.Done(); v.Len() != 0 || len(contents(v)) != 0 {
		t.Errorf("%d keys are left", v.Len())
	}
}

func TestUpdateWithoutChangesIsTheVersion(t *testing.T) {
	v := filled(t, 100)
	if next := v.Update(hasher[int](t), 0).Done(); next != v {
		t.Error("a version without changes is another one")
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

func TestTouchedKeysAreKnownByNumber(t *testing.T) {
	h := hasher[int](t)
	for name, before := range map[string]*Version[int, int]{"beside the table": filled(t, 100), "in a table of its own": nil} {
		t.Run(name, func(t *testing.T) {
			u := before.Update(h, 0)
			rows := []pairOf{{Key: 5}, {Key: 200}, {Key: 5}, {Key: 300}, {Key: 6}}
			at := make([]int32, len(rows))
			Touch(u, rows, at)
			if at[0] != at[2] || at[0] == at[1] {
				t.Fatalf("numbers are %v", at)
			}
			u.Set(at[0], 1)
			if s, ok := u.At(at[2]); !ok || s != 1 {
				t.Errorf("the second row of a key sees %d, %t", s, ok)
			}
			u.Set(at[1], 2)
			u.Unset(at[3])
			u.Unset(at[4])
			v := u.Done()
			want := before.Len()
			if before == nil {
				want += 2
			}
			if v.Len() != want {
				t.Errorf("%d keys, want %d", v.Len(), want)
			}
			for k, want := range map[int]bool{5: true, 200: true, 300: false, 6: false} {
				if _, ok := v.Get(k); ok != want {
					t.Errorf("key %d has state: %t", k, ok)
				}
			}
		})
	}
}

// One goroutine updates, others read versions that are behind: each sees one point (S-19).
func TestReadersSeeOnePoint_S19(t *testing.T) {
	const keys, batches = 2_000, 60
	h := hasher[int](t)
	v := filled(t, keys)
	var readers sync.WaitGroup
	for b := range batches {
		if b%10 == 0 {
			at, want := v, b
			for range 2 {
				readers.Go(func() {
					for range 3 {
						n := 0
						at.Each(func(k int, s *int) bool {
							if n++; *s != want {
								t.Errorf("version %d has %d for key %d", want, *s, k)
								return false
							}
							return true
						})
						if s, ok := at.Get(keys / 2); !ok || s != want || n != keys {
							t.Errorf("version %d: got %d, %t, %d keys", want, s, ok, n)
						}
					}
				})
			}
		}
		u := v.Update(h, 0)
		for k := range keys {
			u.Put(k, b+1)
		}
		u.Put(keys+b, b+1)
		u.Delete(keys + b)
		v = u.Done()
	}
	readers.Wait()
}

// Two updates from one version, as two attempts of a task make them.
func TestSecondUpdateFromAVersion(t *testing.T) {
	h := hasher[int](t)
	before := filled(t, 500)
	second := before.Update(h, 0) // begun before the first has ended
	make := func(u *Update[int, int]) *Version[int, int] {
		for k := 0; k < 600; k += 7 {
			if k%3 == 0 {
				u.Delete(k)
			} else {
				u.Put(k, k)
			}
		}
		return u.Done()
	}
	first := make(before.Update(h, 0))
	again := make(second)
	if !same(first, again) {
		t.Error("the second attempt gives something else")
	}
	u := first.Update(h, 0)
	u.Put(1000, 1)
	u.Put(0, 9)
	u.Done()
	if third := make(before.Update(h, 0)); !same(third, again) || !same(first, again) {
		t.Error("a third attempt, later, gives something else")
	}
}

// Two updates of one version that take turns: whoever is not the last to touch a key goes on beside a copy, and both end as
// they would alone.
func TestUpdatesOfAVersionTakeTurns(t *testing.T) {
	h := hasher[int](t)
	steps := []func(u *Update[int, int]){
		func(u *Update[int, int]) { u.Put(1, 10); u.Put(700, 1); u.Delete(2) },
		func(u *Update[int, int]) { s, _ := u.Get(1); u.Put(1, s+1); u.Put(3, 3); u.Put(701, 1) },
		func(u *Update[int, int]) { u.Put(2, 5); u.Delete(700); s, _ := u.Get(1); u.Put(1, s*2) },
	}
	alone := filled(t, 500).Update(h, 0)
	for _, step := range steps {
		step(alone)
	}
	want := alone.Done()
	before := filled(t, 500)
	old := contents(before)
	abandoned := before.Update(h, 0) // as one whose function panics half way
	first, second := before.Update(h, 0), before.Update(h, 0)
	for _, step := range steps {
		step(first)
		step(second)
		step(abandoned)
	}
	if a := first.Done(); !same(a, want) || a.Len() != want.Len() {
		t.Error("the first update ends otherwise than alone")
	}
	if b := second.Done(); !same(b, want) || b.Len() != want.Len() {
		t.Error("the second update ends otherwise than alone")
	}
	if s, _ := want.Get(1); s != 22 || len(old) != 500 || old[1].State != contents(before)[1].State {
		t.Errorf("key 1 has %d, and the version before changed", s)
	}
}

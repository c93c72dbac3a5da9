package keyed

import "unsafe"

// FindKeys sets to[i] to the entry of keys[i], -1 where the table has none, as Find does for one key after the other. Unlike
// the other loops it may run on several goroutines at once, while nobody changes the table.
//
// Shape: to is at least as long as keys.
// Cost: no allocation; where the table is larger than the caches, a fraction of that of as many calls of Find, since the
// reads of many keys are under way at once.
func FindKeys[K comparable, V any](t *Table[K, V], keys []K, to []int32) {
	findRows(t, keyRows(keys), to)
}

// FindPairs is FindKeys for the keys of rows.
func FindPairs[K comparable, V, X any](t *Table[K, X], rows []Pair[K, V], to []int32) {
	findRows(t, pairRows(rows), to)
}

func findRows[K comparable, V any](t *Table[K, V], r rows, to []int32) {
	to = to[:r.n]
	if len(t.slots) == 0 {
		for i := range to {
			to[i] = -1
		}
		return
	}
	var slots [run]uint32
	var probes [run]probe
	for done := 0; done < r.n; done += run {
		n := min(run, r.n-done)
		part := rows{unsafe.Add(r.base, uintptr(done)*r.stride), r.stride, n}
		t.findRun(part, slots[:n], probes[:n], to[done:done+n])
	}
}

// findRun finds at most run keys. At and probes are scratch, as long as there are keys.
func (t *Table[K, V]) findRun(r rows, at []uint32, probes []probe, to []int32) {
	switch t.hasher.kind {
	case keysString:
		packRows(r, nil, probes)
		t.candidates(at, probes)
		for j := range at {
			if at[j] == 0 {
				to[j] = -1
				continue
			}
			i := at[j]&^t.high - 1
			if w, e := &t.words[i], &probes[j]; w.lo != e.lo || w.hi != e.hi {
				i = t.findLeft((*K)(unsafe.Add(r.base, uintptr(j)*r.stride))) // also every long string: its probe does not say where its bytes lie
			}
			to[j] = int32(i)
		}
	case keysInt:
		widen(t.hasher.layout.whole, r, probes)
		t.candidates(at, probes)
		for j := range at {
			if at[j] == 0 {
				to[j] = -1
				continue
			}
			i := at[j]&^t.high - 1
			if t.ints[i].key != probes[j].lo {
				i = t.findLeft((*K)(unsafe.Add(r.base, uintptr(j)*r.stride)))
			}
			to[j] = int32(i)
		}
	default:
		for j := range to {
			to[j] = int32(t.findLeft((*K)(unsafe.Add(r.base, uintptr(j)*r.stride))))
		}
	}
}

// candidates reads for each probe the first slot with its tag, 0 where there is none. The lines that slots lie in are all
// asked for before the first is looked through, and entries are left for later.
func (t *Table[K, V]) candidates(at []uint32, probes []probe) {
	firstSlots(at, probes, t.slots, t.shift, t.high)
	mask := uint64(len(t.slots) - 1)
	for j := range at {
		spread := probes[j].spread
		if tag := uint32(spread) & t.high; at[j]&t.high != tag || at[j] == 0 {
			p := spread >> t.shift
			for at[j] = t.slots[p&mask]; at[j] != 0 && at[j]&t.high != tag; at[j] = t.slots[p&mask] {
				p++
			}
		}
	}
}

// findLeft finds one key whose tag another key has as well. None is all ones.
func (t *Table[K, V]) findLeft(k *K) uint32 {
	if i, ok := t.find(k, t.hasher.Hash(*k)); ok {
		return uint32(i)
	}
	return ^uint32(0)
}

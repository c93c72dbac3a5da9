package keyed

// FindKeys sets to[i] to the entry of keys[i], -1 where the table has none, as Find does for one key after the other. Unlike
// the other loops it may run on several goroutines at once, while nobody changes the table.
//
// Shape: to is at least as long as keys.
// Cost: no allocation; where the table is larger than the caches, a fraction of that of as many calls of Find, since the
// reads of many keys are under way at once.
func FindKeys[K comparable, V any](t *Table[K, V], keys []K, to []int32) {
	to = to[:len(keys)]
	if len(t.slots) == 0 {
		for i := range to {
			to[i] = -1
		}
		return
	}
	var slots [run]uint32
	var probes [run]probe
	for done := 0; done < len(keys); done += run {
		part := keys[done:min(done+run, len(keys))]
		t.findRun(part, slots[:len(part)], probes[:len(part)], to[done:done+len(part)])
	}
}

// findRun finds at most run keys. At and probes are scratch, as long as keys.
func (t *Table[K, V]) findRun(keys []K, at []uint32, probes []probe, to []int32) {
	switch t.hasher.kind {
	case keysString:
		packRows(keyRows(keys), nil, probes)
		t.candidates(at, probes)
		for j := range at {
			if at[j] == 0 {
				to[j] = -1
				continue
			}
			i := at[j]&^t.high - 1
			if w, e := &t.words[i], &probes[j]; w.lo != e.lo || w.hi != e.hi {
				i = t.findLeft(&keys[j]) // also every long string: its probe does not say where its bytes lie
			}
			to[j] = int32(i)
		}
	case keysInt:
		widen(t.hasher.layout.whole, keyRows(keys), probes)
		t.candidates(at, probes)
		for j := range at {
			if at[j] == 0 {
				to[j] = -1
				continue
			}
			i := at[j]&^t.high - 1
			if t.ints[i].key != probes[j].lo {
				i = t.findLeft(&keys[j])
			}
			to[j] = int32(i)
		}
	default:
		for j := range keys {
			to[j] = int32(t.findLeft(&keys[j]))
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

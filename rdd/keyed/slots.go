package keyed

import "math/bits"

// resize makes room for n keys and points the slots at the entries anew, by the hashes that entries hold or that follow from
// their one or two words: no key's bytes are read.
func (t *Table[K, V]) resize(n int) {
	if n > maxEntries {
		panic("keyed: more than 2^30 keys in one table")
	}
	log := max(bits.Len(uint(4*n-1)), 4)
	t.slots = make([]uint32, 1<<log)
	t.shift = uint(64 - log)
	// Entry numbers stay well below the number of slots, so the bits from log on are free for tags.
	t.high = ^uint32(0) << log
	if t.crowded {
		t.shift, t.high = 63, 0
	}
	switch room := len(t.slots) / 4; t.hasher.kind {
	case keysString:
		t.words = append(make([]wordEntry[V], 0, room), t.words...)
		for i := range t.words {
			t.point(t.spread(t.stringHash(&t.words[i])), i)
		}
	case keysInt:
		t.ints = append(make([]intEntry[V], 0, room), t.ints...)
		for i := range t.ints {
			t.point(t.spread(t.ints[i].key), i)
		}
	default:
		t.whole = append(make([]wholeEntry[K, V], 0, room), t.whole...)
		for i := range t.whole {
			t.point(t.spread(t.whole[i].hash), i)
		}
	}
}

// point makes the first free slot for a spread hash point at entry i.
func (t *Table[K, V]) point(spread uint64, i int) {
	mask := uint64(len(t.slots) - 1)
	p := spread >> t.shift
	for t.slots[p&mask] != 0 {
		p++
	}
	t.slots[p&mask] = uint32(spread)&t.high | uint32(i+1)
}

// claim takes a slot for the next entry, whose spread hash is given, and returns the entry's number.
func (t *Table[K, V]) claim(spread uint64) int {
	n := t.Len()
	if n >= len(t.slots)/4 {
		t.resize(max(2*n, 8))
	}
	t.point(spread, n)
	return n
}

// spread returns the hash that the slots go by. Integers, whose hash is their value, are mixed for it. What else hashes to a
// value of its own, an interface that holds an integer, has entries dear enough to be mixed as well.
func (t *Table[K, V]) spread(hash uint64) uint64 {
	if t.hasher.kind != keysString {
		hash = mixInt(hash)
	}
	return hash
}

// mixInt spreads an integer over all bits. It is no part of the key hash.
func mixInt(x uint64) uint64 { return mix(x^hashA, hashB) }

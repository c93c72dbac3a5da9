package keyed

import "math/bits"

// resize makes room for n keys and points the slots at the entries anew, by the hashes that entries hold or that follow from
// their one or two words: no key's bytes are read.
func (t *Table[K, V]) resize(n int) {
	if n > maxEntries {
		panic("keyed: more than 2^30 keys in one table")
	}
	t.slots = make([]uint32, slotsFor(n))
	log := bits.Len(uint(len(t.slots))) - 1
	t.shift = uint(64 - log)
	// Entry numbers stay well below the number of slots, so the bits from log on are free for tags.
	t.high = ^uint32(0) << log
	if t.crowded {
		t.shift, t.high = 63, 0
	}
	switch room := roomOf(len(t.slots)); t.hasher.kind {
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

// Grow makes room for so many more keys than there are, so that the table need not grow on the way to them.
func (t *Table[K, V]) Grow(more int) {
	if n := min(t.Len()+more, maxEntries); n > roomOf(len(t.slots)) {
		t.resize(n)
	}
}

// sparseSlots is up to how many slots three in four stay free, so that nearly every key is found where its hash points. More
// slots than that are not in the nearest cache, where fewer lines are worth more than fewer steps: half of them stay free.
const sparseSlots = 1 << 15

// roomOf returns how many entries so many slots are for.
func roomOf(slots int) int {
	if slots > sparseSlots {
		return slots / 2
	}
	return slots / 4
}

// slotsFor returns how many slots n entries take, a power of two.
func slotsFor(n int) int {
	slots := max(1<<bits.Len(uint(2*n-1)), 16)
	if roomOf(slots) < n {
		slots *= 2
	}
	return slots
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
	if n >= roomOf(len(t.slots)) {
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

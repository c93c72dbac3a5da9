package keyed

import (
	"unsafe"
)

// Memory returns the bytes that the table will hold with more keys added, without what values, and keys that are
// neither strings nor integers, refer to. It says what growing costs before it is done.
//
// Cost: constant.
func (t *Table[K, V]) Memory(more int) int64 {
	slots, n := len(t.slots), t.Len()
	if n+more > roomOf(slots) {
		// A table that is full doubles.
		slots = max(slots, slotsFor(max(n+more, 2*n, 8)))
	}
	var entry uintptr
	switch t.hasher.kind {
	case keysString:
		entry = unsafe.Sizeof(wordEntry[V]{})
	case keysInt:
		entry = unsafe.Sizeof(intEntry[V]{})
	default:
		entry = unsafe.Sizeof(wholeEntry[K, V]{})
	}
	return int64(slots)*4 + int64(roomOf(slots))*int64(entry) + int64(cap(t.arena))
}

// FindHash is Find for a key whose hash is known.
func (t *Table[K, V]) FindHash(k K, hash uint64) (i int, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	return t.find(&k, hash)
}

// PartitionHash is Partition for a key whose hash is known.
func (h *Hasher[K]) PartitionHash(k K, hash uint64, n int) int { return h.place(&k, hash, n) }

package keyed

import "unsafe"

// Table is a hash table with one entry per key, kept in the order in which the keys first came.
//
// Entries are dense and hold key and value side by side; an open-addressing array of 32-bit slots, each an entry number and,
// in the bits which that leaves, a piece of the hash, finds them:
//
//	slots    [tag|3] [     ] [tag|1] [     ] [tag|2] ...      a quarter full at most, large ones a half; linear probing
//	entries  0: key value    1: key value    2: key value     insertion order
//
// Strings of at most 15 bytes are two words in the entry, longer ones lie in an arena; integers are one word; other keys are
// kept whole beside their hash. With string or integer keys, entries hold a pointer only where V does, so that the garbage
// collector need not look into them.
//
// A Table belongs to one goroutine at a time and must not be copied. Make one with New.
type Table[K comparable, V any] struct {
	hasher *Hasher[K]
	slots  []uint32 // entry number + 1, tag in the bits of high; 0 is empty; the length is a power of two
	shift  uint     // the home slot of a spread hash is hash >> shift
	high   uint32   // the bits of a slot, and of the lower half of a spread hash, that are tag

	words []wordEntry[V]     // hasher.kind is keysString
	arena []byte             // the long strings, each after the 8 bytes of its hash
	ints  []intEntry[V]      // hasher.kind is keysInt
	whole []wholeEntry[K, V] // hasher.kind is keysAny

	at      []uint32 // scratch of the bulk loops: the entries of a run of rows
	probes  []probe  // scratch of the bulk loops: what to look for
	crowded bool     // set by tests that want collisions: homes are two, and tags say nothing
	row     int      // the row the running bulk loop is at
}

// A probe is a key made ready to be looked for.
type probe struct {
	lo, hi uint64 // a short string as pack makes it; 0, longString for a long one; an integer in lo
	spread uint64
}

type wordEntry[V any] struct {
	lo, hi uint64 // as pack makes them, or arena offset and longString|length
	val    V
}

type intEntry[V any] struct {
	key uint64
	val V
}

type wholeEntry[K, V any] struct {
	hash uint64
	key  K
	val  V
}

// longString marks the second word of a string that lies in the arena.
const longString = 0xff << 56

// maxEntries is well within what slots of 32 bits leave room for beside a tag.
const maxEntries = 1 << 30

// New returns an empty table with room for capacity keys; 0 is fine when the number is not known.
//
// Cost: with capacity 0 nothing is allocated before the first key comes.
func New[K comparable, V any](h *Hasher[K], capacity int) *Table[K, V] {
	t := &Table[K, V]{hasher: h}
	if capacity > 0 {
		t.resize(min(capacity, maxEntries))
	}
	return t
}

// Hasher returns the hasher the table was made with.
func (t *Table[K, V]) Hasher() *Hasher[K] { return t.hasher }

// Len returns the number of keys.
func (t *Table[K, V]) Len() int {
	// Only one of the three has any.
	return len(t.words) + len(t.ints) + len(t.whole)
}

// Find returns the entry of k.
func (t *Table[K, V]) Find(k K) (i int, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	return t.find(&k, t.hasher.Hash(k))
}

// Upsert returns the entry of k and whether it was added just now, with a zero value. The key is stored in canonical form.
//
// Cost: amortised constant; rows that come in slices go faster through the bulk loops.
// Errors: panics when the table would pass 2^30 keys.
func (t *Table[K, V]) Upsert(k K) (i int, fresh bool) {
	h := t.hasher.Hash(k)
	if len(t.slots) > 0 {
		if i, ok := t.find(&k, h); ok {
			return i, false
		}
	}
	return t.insert(&k, h), true
}

// Value returns where the value of entry i lies, until the next key is added.
func (t *Table[K, V]) Value(i int) *V {
	switch t.hasher.kind {
	case keysString:
		return &t.words[i].val
	case keysInt:
		return &t.ints[i].val
	default:
		return &t.whole[i].val
	}
}

// Key returns the key of entry i, canonical.
//
// Cost: allocates the bytes of a string; Keys and Pairs share one allocation among many.
func (t *Table[K, V]) Key(i int) K {
	switch t.hasher.kind {
	case keysString:
		s := t.appendString(make([]byte, 0, t.stringLen(i)+2*8), i)
		str := unsafe.String(unsafe.SliceData(s), len(s))
		return *(*K)(unsafe.Pointer(&str))
	case keysInt:
		return t.intKey(t.ints[i].key)
	default:
		return t.whole[i].key
	}
}

// HashAt returns the hash of the key of entry i, as Hasher.Hash would.
func (t *Table[K, V]) HashAt(i int) uint64 {
	switch t.hasher.kind {
	case keysString:
		return t.stringHash(&t.words[i])
	case keysInt:
		return t.ints[i].key
	default:
		return t.whole[i].hash
	}
}

// Row returns the index of the row, in the slice given to it, that the last call of Reduce, Combine or Merge was at when a
// user function panicked, so that whoever recovers can name the record. The table is half updated then: keys of up to 256
// rows from there on may have been added with zero values.
func (t *Table[K, V]) Row() int { return t.row }

// Clone returns a copy of the table that shares nothing with t but what the values themselves point to.
//
// Cost: three memory copies.
func (t *Table[K, V]) Clone() *Table[K, V] {
	return &Table[K, V]{
		hasher: t.hasher, shift: t.shift, high: t.high, crowded: t.crowded,
		slots: append([]uint32(nil), t.slots...),
		words: copyEntries(t.words),
		arena: append([]byte(nil), t.arena...),
		ints:  copyEntries(t.ints),
		whole: copyEntries(t.whole),
	}
}

func copyEntries[E any](from []E) []E {
	if from == nil {
		return nil
	}
	return append(make([]E, 0, cap(from)), from...)
}

// Reset empties the table and keeps its memory. Keys taken from it before stay good.
func (t *Table[K, V]) Reset() {
	clear(t.slots)
	clear(t.words)
	clear(t.ints)
	clear(t.whole)
	t.words, t.ints, t.whole, t.arena = t.words[:0], t.ints[:0], t.whole[:0], t.arena[:0]
	t.row = 0
}

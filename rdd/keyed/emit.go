package keyed

import (
	"slices"
	"unsafe"
)

// Pairs returns dst with the entries from up to to appended, in insertion order.
//
// Cost: all the string keys of one call share one allocation and keep each other alive, so ask for a chunk at a time.
func (t *Table[K, V]) Pairs(dst []Pair[K, V], from, to int) []Pair[K, V] {
	if from == to {
		return dst
	}
	dst = slices.Grow(dst, to-from)
	switch t.hasher.kind {
	case keysString:
		buf := t.stringRoom(from, to)
		for i := from; i < to; i++ {
			var k K
			k, buf = t.nextString(buf, i)
			dst = append(dst, Pair[K, V]{Key: k, Value: t.words[i].val})
		}
	case keysInt:
		for i := range t.ints[from:to] {
			e := &t.ints[from+i]
			dst = append(dst, Pair[K, V]{Key: t.intKey(e.key), Value: e.val})
		}
	default:
		for i := range t.whole[from:to] {
			e := &t.whole[from+i]
			dst = append(dst, Pair[K, V]{Key: e.key, Value: e.val})
		}
	}
	return dst
}

// Keys returns dst with the keys of the entries from up to to appended, in insertion order.
//
// Cost: as Pairs.
func (t *Table[K, V]) Keys(dst []K, from, to int) []K {
	if from == to {
		return dst
	}
	dst = slices.Grow(dst, to-from)
	switch t.hasher.kind {
	case keysString:
		buf := t.stringRoom(from, to)
		for i := from; i < to; i++ {
			var k K
			k, buf = t.nextString(buf, i)
			dst = append(dst, k)
		}
	case keysInt:
		for _, e := range t.ints[from:to] {
			dst = append(dst, t.intKey(e.key))
		}
	default:
		for i := range t.whole[from:to] {
			dst = append(dst, t.whole[from+i].key)
		}
	}
	return dst
}

// Select returns dst with the entries from up to to for which pick is true appended, each with the value that pick makes of its
// own.
//
// Cost: as Pairs, and a call of pick for each entry.
func Select[K comparable, V, X any](t *Table[K, V], dst []Pair[K, X], from, to int, pick func(i int, v *V) (X, bool)) []Pair[K, X] {
	if from == to {
		return dst
	}
	dst = slices.Grow(dst, to-from)
	var buf []byte
	if t.hasher.kind == keysString {
		buf = t.stringRoom(from, to)
	}
	values := t.values()
	for i := from; i < to; i++ {
		x, ok := pick(i, values.At(i))
		if !ok {
			continue
		}
		var k K
		switch t.hasher.kind {
		case keysString:
			k, buf = t.nextString(buf, i)
		case keysInt:
			k = t.intKey(t.ints[i].key)
		default:
			k = t.whole[i].key
		}
		dst = append(dst, Pair[K, X]{Key: k, Value: x})
	}
	return dst
}

// SelectLent is Select with string keys that are lent: they are not copied but the table's own bytes, which never change unless the
// table is Reset. A lent key keeps the bytes of all keys alive; Hasher.Own makes it stand alone.
//
// Cost: as Select, without an allocation.
func SelectLent[K comparable, V, X any](t *Table[K, V], dst []Pair[K, X], from, to int, pick func(i int, v *V) (X, bool)) []Pair[K, X] {
	if from == to || t.hasher.kind != keysString || !littleEndian() {
		return Select(t, dst, from, to, pick)
	}
	dst = slices.Grow(dst, to-from)
	words := t.words[from:to]
	for i := range words {
		e := &words[i]
		x, ok := pick(from+i, &e.val)
		if !ok {
			continue
		}
		var s string
		if e.hi < longString {
			// The two words of a short string are its bytes, in order.
			s = unsafe.String((*byte)(unsafe.Pointer(&e.lo)), e.hi>>56)
		} else {
			b := t.arena[e.lo : e.lo+e.hi&^longString]
			s = unsafe.String(unsafe.SliceData(b), len(b))
		}
		dst = append(dst, Pair[K, X]{Key: *(*K)(unsafe.Pointer(&s)), Value: x})
	}
	return dst
}

// littleEndian reports whether the first byte of a word in memory is its lowest.
func littleEndian() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}

// stringRoom returns an empty buffer with room for the string keys of the entries from up to to.
func (t *Table[K, V]) stringRoom(from, to int) []byte {
	n := 0
	for i := from; i < to; i++ {
		n += t.stringLen(i)
	}
	return make([]byte, 0, n+16)
}

// nextString returns the string key of entry i, its bytes appended to buf, and buf.
func (t *Table[K, V]) nextString(buf []byte, i int) (K, []byte) {
	at := len(buf)
	buf = t.appendString(buf, i)
	s := unsafe.String(unsafe.SliceData(buf[at:]), len(buf)-at)
	return *(*K)(unsafe.Pointer(&s)), buf
}

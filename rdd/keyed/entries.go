package keyed

import (
	"encoding/binary"
	"unsafe"
)

// find returns the entry of the key at k, whose hash is known. There are slots.
func (t *Table[K, V]) find(k *K, hash uint64) (int, bool) {
	var lo, hi uint64
	var long string
	if t.hasher.kind == keysString {
		long = *(*string)(unsafe.Pointer(k))
		if len(long) <= inlineMax {
			lo, hi = pack(long)
			long = ""
		}
	}
	spread := t.spread(hash)
	mask := uint64(len(t.slots) - 1)
	for p := spread >> t.shift; ; p++ {
		slot := t.slots[p&mask]
		if slot == 0 {
			return 0, false
		}
		if (slot^uint32(spread))&t.high != 0 {
			continue
		}
		i := int(slot&^t.high) - 1
		same := false
		switch t.hasher.kind {
		case keysString:
			e := &t.words[i]
			if long == "" {
				same = e.lo == lo && e.hi == hi
			} else {
				same = t.isLong(e, long)
			}
		case keysInt:
			same = t.ints[i].key == hash
		default:
			same = t.isWhole(&t.whole[i], k, hash)
		}
		if same {
			return i, true
		}
	}
}

// insert adds the key at k, which is not there yet, and returns its entry.
func (t *Table[K, V]) insert(k *K, hash uint64) int {
	switch t.hasher.kind {
	case keysString:
		s := *(*string)(unsafe.Pointer(k))
		if len(s) > inlineMax {
			return t.insertLong(s, hash)
		}
		lo, hi := pack(s)
		return t.insertWords(lo, hi, t.spread(hash))
	case keysInt:
		return t.insertInt(hash, t.spread(hash))
	default:
		return t.insertWhole(k, hash)
	}
}

func (t *Table[K, V]) insertWords(lo, hi, spread uint64) int {
	i := t.claim(spread)
	t.words = t.words[:i+1]
	e := &t.words[i]
	e.lo, e.hi = lo, hi
	return i
}

func (t *Table[K, V]) insertLong(s string, hash uint64) int {
	t.arena = binary.LittleEndian.AppendUint64(t.arena, hash)
	at := len(t.arena)
	t.arena = append(t.arena, s...)
	return t.insertWords(uint64(at), longString|uint64(len(s)), t.spread(hash))
}

func (t *Table[K, V]) insertInt(key, spread uint64) int {
	i := t.claim(spread)
	t.ints = t.ints[:i+1]
	t.ints[i].key = key
	return i
}

func (t *Table[K, V]) insertWhole(k *K, hash uint64) int {
	i := t.claim(t.spread(hash))
	t.whole = t.whole[:i+1]
	e := &t.whole[i]
	e.hash, e.key = hash, *k
	if l := t.hasher.layout; !l.plain || l.strings {
		l.settle(unsafe.Pointer(&e.key), true)
	}
	return i
}

// isLong reports whether e is the string s of more than 15 bytes.
func (t *Table[K, V]) isLong(e *wordEntry[V], s string) bool {
	return e.hi == longString|uint64(len(s)) && string(t.arena[e.lo:e.lo+uint64(len(s))]) == s
}

// isWhole reports whether e is the key at k.
func (t *Table[K, V]) isWhole(e *wholeEntry[K, V], k *K, hash uint64) bool {
	if e.hash != hash {
		return false
	}
	if t.hasher.layout.plain {
		return e.key == *k
	}
	return t.hasher.layout.equal(unsafe.Pointer(&e.key), unsafe.Pointer(k))
}

// intKey returns the key that was widened to word.
func (t *Table[K, V]) intKey(word uint64) (k K) {
	switch p := unsafe.Pointer(&k); unsafe.Sizeof(k) {
	case 1:
		*(*uint8)(p) = uint8(word)
	case 2:
		*(*uint16)(p) = uint16(word)
	case 4:
		*(*uint32)(p) = uint32(word)
	default:
		*(*uint64)(p) = word
	}
	return k
}

// stringHash returns the hash of the string of e.
func (t *Table[K, V]) stringHash(e *wordEntry[V]) uint64 {
	if e.hi < longString {
		return hashWords(e.lo, e.hi)
	}
	return binary.LittleEndian.Uint64(t.arena[e.lo-8:])
}

// stringLen returns the length of the string key of entry i.
func (t *Table[K, V]) stringLen(i int) int {
	hi := t.words[i].hi
	if hi < longString {
		return int(hi >> 56)
	}
	return int(hi &^ longString)
}

// appendString appends the string key of entry i to buf, which must have 16 bytes of room beyond it: short strings are
// written as two whole words.
func (t *Table[K, V]) appendString(buf []byte, i int) []byte {
	e := &t.words[i]
	n := t.stringLen(i)
	if e.hi >= longString {
		return append(buf, t.arena[e.lo:e.lo+uint64(n)]...)
	}
	room := buf[len(buf) : len(buf)+16]
	binary.LittleEndian.PutUint64(room, e.lo)
	binary.LittleEndian.PutUint64(room[8:], e.hi)
	return buf[:len(buf)+n]
}

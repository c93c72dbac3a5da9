package keyed

import (
	"encoding/binary"
	"unsafe"
)

// Packed is rows of one partition in order, with their keys as a Table holds them: canonical, with hashes that are known or
// follow from a word or two. It is a table's entries without the slots that find them, so that rows that are looked for in
// several tables are made ready once. With string or integer keys it holds a pointer only where V does, and the garbage collector
// need not look into it.
//
// A Packed that nobody appends to may be read by any number of goroutines.
type Packed[K comparable, V any] struct {
	entries Table[K, V] // without slots
}

// NewPacked returns an empty Packed with room for capacity rows.
func NewPacked[K comparable, V any](h *Hasher[K], capacity int) *Packed[K, V] {
	p := &Packed[K, V]{entries: Table[K, V]{hasher: h}}
	if capacity > 0 {
		p.grow(capacity)
	}
	return p
}

// Packed returns the entries of the table as rows, good until a key is added.
//
// Cost: constant; they are the table's own.
func (t *Table[K, V]) Packed() *Packed[K, V] {
	return &Packed[K, V]{entries: Table[K, V]{hasher: t.hasher, words: t.words, arena: t.arena, ints: t.ints, whole: t.whole}}
}

// slice returns the rows from up to to, which are p's own.
func (p *Packed[K, V]) slice(from, to int) *Packed[K, V] {
	t := p.entries
	switch t.hasher.kind {
	case keysString:
		t.words = t.words[from:to]
	case keysInt:
		t.ints = t.ints[from:to]
	default:
		t.whole = t.whole[from:to]
	}
	return &Packed[K, V]{entries: t}
}

// Len returns the number of rows.
func (p *Packed[K, V]) Len() int { return p.entries.Len() }

// Values returns where the values of the rows lie.
func (p *Packed[K, V]) Values() Column[V] { return p.entries.Values() }

// Pairs returns dst with the rows from up to to appended.
//
// Cost: as Pairs of a table.
func (p *Packed[K, V]) Pairs(dst []Pair[K, V], from, to int) []Pair[K, V] {
	return p.entries.Pairs(dst, from, to)
}

// Memory returns the bytes held, without what values, and keys that are neither strings nor integers, refer to.
//
// Cost: constant.
func (p *Packed[K, V]) Memory() int64 {
	t := &p.entries
	return int64(cap(t.words))*int64(unsafe.Sizeof(wordEntry[V]{})) + int64(cap(t.ints))*int64(unsafe.Sizeof(intEntry[V]{})) +
		int64(cap(t.whole))*int64(unsafe.Sizeof(wholeEntry[K, V]{})) + int64(cap(t.arena))
}

// Append appends rows. Keys may repeat; they are stored in canonical form, and strings are copied.
//
// Cost: no allocation per row with string or integer keys; no key is looked for.
func (p *Packed[K, V]) Append(rows []Pair[K, V]) {
	t := &p.entries
	n := t.Len()
	p.grow(len(rows))
	switch t.hasher.kind {
	case keysString:
		t.words = t.words[:n+len(rows)]
		for i := range rows {
			s := *(*string)(unsafe.Pointer(&rows[i].Key))
			e := &t.words[n+i]
			e.val = rows[i].Value
			if len(s) <= inlineMax {
				e.lo, e.hi = pack(s)
				continue
			}
			t.arena = binary.LittleEndian.AppendUint64(t.arena, hashLong(s))
			e.lo, e.hi = uint64(len(t.arena)), longString|uint64(len(s))
			t.arena = append(t.arena, s...)
		}
	case keysInt:
		t.ints = t.ints[:n+len(rows)]
		for i := range rows {
			t.ints[n+i] = intEntry[V]{key: t.hasher.Hash(rows[i].Key), val: rows[i].Value}
		}
	default:
		t.whole = t.whole[:n+len(rows)]
		l := t.hasher.layout
		for i := range rows {
			e := &t.whole[n+i]
			*e = wholeEntry[K, V]{hash: l.hash(unsafe.Pointer(&rows[i].Key)), key: rows[i].Key, val: rows[i].Value}
			if !l.plain || l.strings {
				l.settle(unsafe.Pointer(&e.key), true)
			}
		}
	}
}

func (p *Packed[K, V]) grow(rows int) {
	t := &p.entries
	switch t.hasher.kind {
	case keysString:
		t.words = doubled(t.words, rows)
	case keysInt:
		t.ints = doubled(t.ints, rows)
	default:
		t.whole = doubled(t.whole, rows)
	}
}

// doubled returns s with room for n more.
func doubled[E any](s []E, n int) []E {
	if cap(s)-len(s) >= n {
		return s
	}
	return append(make([]E, 0, max(2*cap(s), len(s)+n)), s...)
}

// Trim gives up the room for more rows where it is more than an eighth of what there is.
func (p *Packed[K, V]) Trim() {
	t := &p.entries
	t.words, t.ints, t.whole, t.arena = trimmed(t.words), trimmed(t.ints), trimmed(t.whole), trimmed(t.arena)
}

func trimmed[E any](s []E) []E {
	if cap(s)-len(s) <= len(s)/8 {
		return s
	}
	return append(make([]E, 0, len(s)), s...)
}

// long returns the string of a row whose string lies in the arena. It is for looking at, not for keeping.
func (p *Packed[K, V]) long(e *wordEntry[V]) string {
	b := p.entries.arena[e.lo : e.lo+e.hi&^longString]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// ready makes the keys of the rows from from on ready to be looked for.
func (p *Packed[K, V]) ready(from int, probes []probe) {
	t := &p.entries
	switch t.hasher.kind {
	case keysString:
		words := t.words[from : from+len(probes)]
		for j := range probes {
			w, e := &words[j], &probes[j]
			e.lo, e.hi = w.lo, w.hi
			if w.hi < longString {
				e.spread = hashWords(w.lo, w.hi)
			} else {
				// A long string lies somewhere else in each arena, and nowhere at 0.
				e.lo, e.spread = 0, t.stringHash(w)
			}
		}
	case keysInt:
		ints := t.ints[from : from+len(probes)]
		for j := range probes {
			probes[j].lo, probes[j].spread = ints[j].key, mixInt(ints[j].key)
		}
	}
}

package keyed

import "unsafe"

// Column is where the values of a table's entries lie. It is for loops over many entries: it spares them asking what kind of
// table it is for each.
type Column[V any] struct {
	base   unsafe.Pointer
	stride uintptr // from one value to the next
}

// At returns where the value of entry i lies. There must be an entry i.
func (c Column[V]) At(i int) *V { return c.at(uint32(i)) }

func (c Column[V]) at(i uint32) *V {
	return (*V)(unsafe.Add(c.base, uintptr(i)*c.stride))
}

// Values returns where the values of the entries lie, until the next key is added.
func (t *Table[K, V]) Values() Column[V] {
	if t.Len() == 0 {
		return Column[V]{}
	}
	return t.values()
}

// values is Values where there is an entry.
func (t *Table[K, V]) values() Column[V] {
	switch t.hasher.kind {
	case keysString:
		return Column[V]{unsafe.Pointer(&t.words[0].val), unsafe.Sizeof(t.words[0])}
	case keysInt:
		return Column[V]{unsafe.Pointer(&t.ints[0].val), unsafe.Sizeof(t.ints[0])}
	default:
		return Column[V]{unsafe.Pointer(&t.whole[0].val), unsafe.Sizeof(t.whole[0])}
	}
}

// columnOf returns where the elements of s lie.
func columnOf[V any](s []V) Column[V] {
	var v V
	return Column[V]{unsafe.Pointer(unsafe.SliceData(s)), unsafe.Sizeof(v)}
}

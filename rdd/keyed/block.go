package keyed

// Block is the entries of one partition, in the order they had in their table. It is what a shuffle moves. Its entries are either
// packed, as in blocks cut from a table, or columns.
type Block[K comparable, V any] struct {
	Packed *Packed[K, V] // nil where there are columns

	Keys   []K      // canonical
	Values []V      // as many as Keys
	Hashes []uint64 // as many as Keys, as Hasher.Hash gives them; or nil
	// Distinct is set where each key is there once, as in blocks cut from a table.
	Distinct bool
}

// Rows returns the number of entries, 0 for a nil block.
func (b *Block[K, V]) Rows() int {
	switch {
	case b == nil:
		return 0
	case b.Packed != nil:
		return b.Packed.Len()
	}
	return len(b.Keys)
}

// Pairs returns dst with entries from up to to appended.
//
// Cost: as Pairs of a table where the block is packed.
func (b *Block[K, V]) Pairs(dst []Pair[K, V], from, to int) []Pair[K, V] {
	switch {
	case from == to:
		return dst
	case b.Packed != nil:
		return b.Packed.Pairs(dst, from, to)
	}
	values := b.Values[from:to]
	for i, k := range b.Keys[from:to] {
		dst = append(dst, Pair[K, V]{Key: k, Value: values[i]})
	}
	return dst
}

// Slice returns the entries from up to to, which are the block's own.
func (b *Block[K, V]) Slice(from, to int) *Block[K, V] {
	s := &Block[K, V]{Distinct: b.Distinct}
	if b.Packed != nil {
		s.Packed = b.Packed.slice(from, to)
		return s
	}
	s.Keys, s.Values = b.Keys[from:to], b.Values[from:to]
	if b.Hashes != nil {
		s.Hashes = b.Hashes[from:to]
	}
	return s
}

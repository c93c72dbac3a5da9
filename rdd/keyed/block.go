package keyed

// Block is the entries of one partition as columns, in the order they had in their table. It is what a shuffle moves.
type Block[K comparable, V any] struct {
	Keys   []K      // canonical
	Values []V      // as many as Keys
	Hashes []uint64 // as many as Keys, as Hasher.Hash gives them; or nil
	// Distinct is set where each key is there once, as in blocks cut from a table.
	Distinct bool
}

// Rows returns the number of entries, 0 for a nil block.
func (b *Block[K, V]) Rows() int {
	if b == nil {
		return 0
	}
	return len(b.Keys)
}

// Pairs returns dst with entries from up to to appended.
func (b *Block[K, V]) Pairs(dst []Pair[K, V], from, to int) []Pair[K, V] {
	if from == to {
		return dst
	}
	values := b.Values[from:to]
	for i, k := range b.Keys[from:to] {
		dst = append(dst, Pair[K, V]{Key: k, Value: values[i]})
	}
	return dst
}

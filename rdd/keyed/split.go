package keyed

// Split returns the entries as n blocks, one for each partition, nil where it has none; within a block in insertion order.
// Part is asked once per key.
//
// Cost: two passes over the entries; values are copied as they are, and the string keys of a block share one allocation.
// Errors: *PartitionError, which is ErrBadPartition, when part answers outside 0 to n-1.
func (t *Table[K, V]) Split(n int, part func(K) int) ([]*Block[K, V], error) {
	return t.SplitRange(n, 0, t.Len(), part)
}

// SplitRange is Split for the entries from up to to, so that a large table need not be copied in one piece.
//
// Cost and Errors: as Split.
func (t *Table[K, V]) SplitRange(n, from, to int, part func(K) int) ([]*Block[K, V], error) {
	if n <= 0 {
		return nil, nil
	}
	parts := make([]uint32, to-from)
	var keys []K
	for i := from; i < to; i += run {
		keys = t.Keys(keys[:0], i, min(i+run, to))
		for j, k := range keys {
			p := part(k)
			if p < 0 || p >= n {
				return nil, &PartitionError{Entry: i + j, Got: p, Of: n}
			}
			parts[i-from+j] = uint32(p)
		}
	}
	return t.deal(n, from, parts), nil
}

// SplitHash returns what Split returns for the hasher's own Partition, faster.
func (t *Table[K, V]) SplitHash(n int) []*Block[K, V] { return t.SplitHashRange(n, 0, t.Len()) }

// SplitHashRange is SplitHash for the entries from up to to.
func (t *Table[K, V]) SplitHashRange(n, from, to int) []*Block[K, V] {
	if n <= 0 {
		return nil
	}
	parts := make([]uint32, to-from)
	switch t.hasher.kind {
	case keysString:
		words := t.words[from:to]
		for i := range words {
			parts[i] = uint32(modulo(t.stringHash(&words[i]), n, false))
		}
	case keysInt:
		signed := t.hasher.layout.whole.isSigned()
		ints := t.ints[from:to]
		for i := range ints {
			parts[i] = uint32(modulo(ints[i].key, n, signed))
		}
	default:
		whole := t.whole[from:to]
		for i := range whole {
			e := &whole[i]
			parts[i] = uint32(t.hasher.place(&e.key, e.hash, n))
		}
	}
	return t.deal(n, from, parts)
}

// deal returns n blocks, entry from+i in block parts[i].
func (t *Table[K, V]) deal(n, from int, parts []uint32) []*Block[K, V] {
	blocks := make([]*Block[K, V], n)
	counts := make([]int, n)
	bytes := make([]int, n)
	for i, p := range parts {
		counts[p]++
		if t.hasher.kind == keysString {
			bytes[p] += t.stringLen(from + i)
		}
	}
	bufs := make([][]byte, n)
	for p, c := range counts {
		if c == 0 {
			continue
		}
		blocks[p] = &Block[K, V]{Keys: make([]K, 0, c), Values: make([]V, 0, c), Hashes: make([]uint64, 0, c), Distinct: true}
		if t.hasher.kind == keysString {
			bufs[p] = make([]byte, 0, bytes[p]+16)
		}
	}
	for j, p := range parts {
		b, i := blocks[p], from+j
		var k K
		switch t.hasher.kind {
		case keysString:
			k, bufs[p] = t.nextString(bufs[p], i)
		case keysInt:
			k = t.intKey(t.ints[i].key)
		default:
			k = t.whole[i].key
		}
		b.Keys = append(b.Keys, k)
		b.Values = append(b.Values, *t.Value(i))
		b.Hashes = append(b.Hashes, t.HashAt(i))
	}
	return blocks
}

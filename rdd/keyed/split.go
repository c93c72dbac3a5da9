package keyed

// Split returns the entries as n blocks, one for each partition, nil where it has none; within a block in insertion order.
// Part is asked once per key.
//
// Cost: two passes over the entries, which are copied as they are: keys stay packed.
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
	if len(parts) == 0 {
		return blocks
	}
	counts := make([]int, n)
	bytes := make([]int, n)
	for i, p := range parts {
		counts[p]++
		if t.hasher.kind == keysString && t.words[from+i].hi >= longString {
			bytes[p] += 8 + t.stringLen(from+i)
		}
	}
	into := make([]*Table[K, V], n) // the entries of the blocks
	for p, c := range counts {
		if c == 0 {
			continue
		}
		packed := NewPacked[K, V](t.hasher, c)
		blocks[p], into[p] = &Block[K, V]{Packed: packed, Distinct: true}, &packed.entries
		if bytes[p] > 0 {
			into[p].arena = make([]byte, 0, bytes[p])
		}
	}
	switch t.hasher.kind {
	case keysString:
		for j, p := range parts {
			b, e := into[p], t.words[from+j]
			if e.hi >= longString {
				// The hash in front of the string comes along.
				lies := t.arena[e.lo-8 : e.lo+e.hi&^longString]
				e.lo = uint64(len(b.arena)) + 8
				b.arena = append(b.arena, lies...)
			}
			b.words = append(b.words, e)
		}
	case keysInt:
		for j, p := range parts {
			into[p].ints = append(into[p].ints, t.ints[from+j])
		}
	default:
		for j, p := range parts {
			into[p].whole = append(into[p].whole, t.whole[from+j])
		}
	}
	return blocks
}

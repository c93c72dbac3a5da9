package keyed

// Merge folds every entry of b into the entry of its key with f, in the order of b, as Reduce does with rows; clone is for
// values that are stored as they are.
//
// Hashes of b are taken on trust where taking them saves work. They must be those of Hasher.Hash: with others a key may get
// a second entry.
//
// Shape: in a block, nil being an empty one; the table gains one entry per key it had not, in the order of b.
// Cost: no key that is costly to hash is hashed when b has hashes; no allocation per entry.
// Errors: a panic of f or clone passes through; Row then says where.
func Merge[K comparable, C any](t *Table[K, C], b *Block[K, C], f func(C, C) C, clone func(C) C) {
	n := b.Rows()
	for done := 0; done < n; done += run {
		end := min(done+run, n)
		next := uint32(t.Len())
		var at []uint32
		var from Column[C]
		if b.Packed != nil {
			at, from = locatePacked(t, b.Packed, done, end-done), b.Packed.Values()
		} else {
			var hashes []uint64
			if b.Hashes != nil {
				hashes = b.Hashes[done:end]
			}
			at, from = t.locate(keyRows(b.Keys[done:end]), hashes), columnOf(b.Values)
		}
		values := t.values()
		for j, i := range at {
			v, add := values.at(i), from.At(done+j)
			t.row = done + j
			if i != next {
				*v = f(*v, *add)
				continue
			}
			next++
			if clone != nil {
				*v = clone(*add)
			} else {
				*v = *add
			}
		}
	}
}

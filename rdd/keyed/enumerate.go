package keyed

// Enumerate sets to[i] to the entry of the key of rows[i], as Upsert does for one row after the other.
//
// Shape: to is as long as rows; the table gains one entry per key it had not, in row order.
// Cost: as Reduce, without the call of a function.
func Enumerate[K comparable, V, X any](t *Table[K, X], rows []Pair[K, V], to []int32) {
	to = to[:len(rows)]
	for done := 0; done < len(rows); done += run {
		part := rows[done:min(done+run, len(rows))]
		for j, i := range t.locate(pairRows(part), nil) {
			to[done+j] = int32(i)
		}
	}
}

// EnumerateKeys sets to[i] to the entry of keys[i], as Upsert does for one key after the other.
//
// Shape: to is as long as keys; the table gains one entry per key it had not, in their order.
// Cost: as Enumerate.
func EnumerateKeys[K comparable, X any](t *Table[K, X], keys []K, to []int32) {
	to = to[:len(keys)]
	for done := 0; done < len(keys); done += run {
		part := keys[done:min(done+run, len(keys))]
		for j, i := range t.locate(keyRows(part), nil) {
			to[done+j] = int32(i)
		}
	}
}

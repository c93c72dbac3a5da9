package keyed

// Number is what Add can sum.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Count adds one to the entry of every key given.
//
// Shape: in any number of keys; the table gains one entry per key it had not, in the order given.
// Cost: no allocation per key and no function call.
func Count[K comparable](t *Table[K, int64], keys []K) {
	for done := 0; done < len(keys); done += run {
		at := t.locate(keyRows(keys[done:min(done+run, len(keys))]), nil)
		values := t.values()
		for _, i := range at {
			*values.at(i)++
		}
	}
}

// Add adds the value of every row to the entry of its key, in row order.
//
// Shape: in any number of rows; the table gains one entry per key it had not, in row order.
// Cost: as Reduce, without the call of a function.
func Add[K comparable, V Number](t *Table[K, V], rows []Pair[K, V]) {
	for done := 0; done < len(rows); done += run {
		part := rows[done:min(done+run, len(rows))]
		next := uint32(t.Len())
		at := t.locate(pairRows(part), nil)
		values := t.values()
		for j, i := range at {
			if i == next {
				// Stored, not added to zero: negative zero stays what it is, as with Reduce.
				*values.at(i) = part[j].Value
				next++
			} else {
				*values.at(i) += part[j].Value
			}
		}
	}
}

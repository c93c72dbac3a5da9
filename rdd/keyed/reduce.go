package keyed

// Reduce folds the value of every row into the entry of its key with f, in row order. The first value of a key is stored as
// it is, or as clone makes it when clone is not nil.
//
// Shape: in any number of rows; the table gains one entry per key it had not, in row order.
// Cost: no allocation per row; f is called once per row whose key was there.
// Errors: a panic of f or clone passes through; Row then says where.
// Source: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, reduceByKey.
func Reduce[K comparable, V any](t *Table[K, V], rows []Pair[K, V], f func(V, V) V, clone func(V) V) {
	for done := 0; done < len(rows); done += run {
		part := rows[done:min(done+run, len(rows))]
		next := uint32(t.Len())
		at := t.locate(pairRows(part), nil)
		values := t.values()
		if int(next) == t.Len() { // as most runs are once the keys are known
			for j, i := range at {
				v := values.at(i)
				t.row = done + j
				*v = f(*v, part[j].Value)
			}
			continue
		}
		for j, i := range at {
			v := values.at(i)
			t.row = done + j
			if i != next {
				*v = f(*v, part[j].Value)
				continue
			}
			next++
			if clone != nil {
				*v = clone(part[j].Value)
			} else {
				*v = part[j].Value
			}
		}
	}
}

// Combine folds the value of every row into the combiner of its key with merge, in row order. The first value of a key goes
// through create.
//
// Shape: in any number of rows; the table gains one entry per key it had not, in row order.
// Cost: no allocation per row beyond those of create and merge, one of which is called once per row.
// Errors: a panic of create or merge passes through; Row then says where.
// Source: Apache Spark, combineByKey of its pair functions.
func Combine[K comparable, V, C any](t *Table[K, C], rows []Pair[K, V], create func(V) C, merge func(C, V) C) {
	for done := 0; done < len(rows); done += run {
		part := rows[done:min(done+run, len(rows))]
		next := uint32(t.Len())
		at := t.locate(pairRows(part), nil)
		values := t.values()
		for j, i := range at {
			c := values.at(i)
			t.row = done + j
			if i != next {
				*c = merge(*c, part[j].Value)
				continue
			}
			next++
			*c = create(part[j].Value)
		}
	}
}

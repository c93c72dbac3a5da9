package keyed

// MergeByHash returns the rows of older and newer, each of which has a key once at most and is in the order of ByHash, as one of
// that kind: a key that both have gets the value that f makes of older's and newer's, in this order. The values of others are
// shared with what they come from. Clone, where it is not nil, makes the first argument of f, which f may change.
//
// Shape: either may be nil, which is one without rows; where one has none the result is the other.
// Cost: one pass over both, side by side: what is read and written lies in order, so that no table is too large for the caches. No
// allocation per row.
// Errors: a panic of f or clone passes through.
func MergeByHash[K comparable, V any](older, newer *Packed[K, V], f func(V, V) V, clone func(V) V) *Packed[K, V] {
	switch {
	case newer == nil || newer.Len() == 0 && older != nil:
		return older
	case older == nil || older.Len() == 0:
		return newer
	}
	m := merging[K, V]{a: &older.entries, b: &newer.entries, f: f, clone: clone}
	to := &Packed[K, V]{entries: Table[K, V]{hasher: m.a.hasher}}
	all := older.Len() + newer.Len()
	if all > 2*mergeSample {
		// Hashes have nothing to do with which keys both have, so that the share of those among the first rows is about that of all.
		to.grow(mergeSample)
		m.next(&to.entries, mergeSample)
		rows := to.Len() * all / (m.i + m.j)
		to.grow(min(rows+rows/32, all) - to.Len())
	} else {
		to.grow(all)
	}
	for !m.done() {
		if room := to.room(); to.Len() < room {
			m.next(&to.entries, room)
		} else {
			to.grow(all - m.i - m.j)
		}
	}
	to.Trim()
	return to
}

// mergeSample is after how many rows it is reckoned how many there will be.
const mergeSample = 1 << 12

// EachMerged calls out with the rows of MergeByHash, in their order and in chunks of so many or a few more, until it returns an
// error, which is returned. A chunk is out's until it returns; where clone is not nil its values are nobody else's.
//
// Shape: as MergeByHash.
// Cost: that of MergeByHash, without holding the result.
// Errors: that of out; a panic of f or clone passes through.
func EachMerged[K comparable, V any](older, newer *Packed[K, V], f func(V, V) V, clone func(V) V, chunk int, out func([]Pair[K, V]) error) error {
	var none Packed[K, V]
	switch {
	case older == nil && newer == nil:
		return nil
	case older == nil:
		older = &none
	case newer == nil:
		newer = &none
	}
	m := merging[K, V]{a: &older.entries, b: &newer.entries, f: f, clone: clone}
	if older == &none {
		m.a, m.b = m.b, m.a
	}
	to := Packed[K, V]{entries: Table[K, V]{hasher: m.a.hasher}}
	chunk = max(min(chunk, older.Len()+newer.Len()), 1)
	to.grow(chunk)
	var rows []Pair[K, V]
	for !m.done() {
		m.next(&to.entries, chunk)
		rows = to.Pairs(rows[:0], 0, to.Len())
		if clone != nil {
			for i := range rows {
				rows[i].Value = clone(rows[i].Value)
			}
		}
		if err := out(rows); err != nil {
			return err
		}
		to.entries.Reset()
	}
	return nil
}

// room returns how many rows p holds before it has to grow.
func (p *Packed[K, V]) room() int {
	t := &p.entries
	return cap(t.words) + cap(t.ints) + cap(t.whole) // only one of the three has any
}

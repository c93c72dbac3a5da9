package keyed

// FindPacked sets at[i] to the entry that t has of the key of row from+i, -1 where it has none, for the rows from up to to.
// Like FindKeys it may run on several goroutines at once, while nobody changes the table.
//
// Shape: at is at least as long as the rows.
// Cost: as FindKeys, without making keys ready.
func FindPacked[K comparable, V, X any](t *Table[K, X], p *Packed[K, V], from, to int, at []int32) {
	at = at[:to-from]
	if len(t.slots) == 0 {
		for i := range at {
			at[i] = -1
		}
		return
	}
	var slots [run]uint32
	var probes [run]probe
	for done := 0; done < len(at); done += run {
		part := at[done:min(done+run, len(at))]
		findPackedRun(t, p, from+done, slots[:len(part)], probes[:len(part)], part)
	}
}

// FindPackedNear is FindPacked where near[i], -1 where nobody knows, is where row from+i was when it was last looked for, in this table
// or in one it was copied from. Near is as long as at, which it may be.
//
// Cost: a row that is there still costs a look at its entry and none at the slots.
func FindPackedNear[K comparable, V, X any](t *Table[K, X], p *Packed[K, V], from, to int, near, at []int32) {
	if t.hasher.kind != keysString {
		FindPacked(t, p, from, to, at)
		return
	}
	rows := p.entries.words[from:to]
	near, at = near[:len(rows)], at[:len(rows)]
	for i := range rows {
		w := &rows[i]
		if n := near[i]; uint(n) < uint(len(t.words)) {
			if e := &t.words[n]; e.lo == w.lo && e.hi == w.hi && w.hi < longString {
				at[i] = n
				continue
			}
		}
		at[i] = -1
		if len(t.slots) > 0 {
			at[i] = findPackedKey(t, p, from+i, p.entries.stringHash(w))
		}
	}
}

// findPackedRun finds at most run rows. Slots and probes are scratch, as long as at.
func findPackedRun[K comparable, V, X any](t *Table[K, X], p *Packed[K, V], from int, slots []uint32, probes []probe, at []int32) {
	switch t.hasher.kind {
	case keysString:
		p.ready(from, probes)
		t.candidates(slots, probes)
		for j := range at {
			if slots[j] == 0 {
				at[j] = -1
				continue
			}
			i := slots[j]&^t.high - 1
			if w, e := &t.words[i], &probes[j]; w.lo != e.lo || w.hi != e.hi { // as every long string
				at[j] = findPackedKey(t, p, from+j, e.spread)
				continue
			}
			at[j] = int32(i)
		}
	case keysInt:
		p.ready(from, probes)
		t.candidates(slots, probes)
		for j := range at {
			if slots[j] == 0 {
				at[j] = -1
				continue
			}
			i := slots[j]&^t.high - 1
			if t.ints[i].key != probes[j].lo {
				at[j] = findPackedKey(t, p, from+j, probes[j].spread)
				continue
			}
			at[j] = int32(i)
		}
	default:
		for j := range at {
			at[j] = findPackedKey(t, p, from+j, 0)
		}
	}
}

// findPackedKey finds the key of one row, -1 if it is not there. There are slots.
func findPackedKey[K comparable, V, X any](t *Table[K, X], p *Packed[K, V], row int, spread uint64) int32 {
	from := &p.entries
	mask := uint64(len(t.slots) - 1)
	tag := uint32(spread) & t.high
	switch t.hasher.kind {
	case keysString:
		w := &from.words[row]
		long := ""
		if w.hi >= longString {
			long = p.long(w)
		}
		for s := spread >> t.shift; ; s++ {
			slot := t.slots[s&mask]
			if slot == 0 {
				return -1
			}
			i := (slot ^ tag) - 1
			if uint(i) >= uint(len(t.words)) {
				continue
			}
			if e := &t.words[i]; long != "" && t.isLong(e, long) || long == "" && e.lo == w.lo && e.hi == w.hi {
				return int32(i)
			}
		}
	case keysInt:
		for s := spread >> t.shift; ; s++ {
			slot := t.slots[s&mask]
			if slot == 0 {
				return -1
			}
			if i := (slot ^ tag) - 1; uint(i) < uint(len(t.ints)) && t.ints[i].key == from.ints[row].key {
				return int32(i)
			}
		}
	default:
		e := &from.whole[row]
		if i, ok := t.find(&e.key, e.hash); ok {
			return int32(i)
		}
		return -1
	}
}

// UpsertPacked is t.Upsert for the key of a row, which needs neither be hashed nor copied out.
//
// Cost: amortised constant.
// Errors: panics when the table would pass 2^30 keys.
func UpsertPacked[K comparable, V, X any](t *Table[K, X], p *Packed[K, V], row int) (i int, fresh bool) {
	if len(t.slots) == 0 {
		t.resize(8)
	}
	n := t.Len()
	from := &p.entries
	switch t.hasher.kind {
	case keysString:
		w := &from.words[row]
		spread := from.stringHash(w)
		if w.hi < longString {
			i = int(t.settleWords(&probe{lo: w.lo, hi: w.hi, spread: spread}))
			break
		}
		if at := findPackedKey(t, p, row, spread); at >= 0 {
			i = int(at)
		} else {
			i = t.insertLong(p.long(w), spread)
		}
	case keysInt:
		key := from.ints[row].key
		i = int(t.settleInt(&probe{lo: key, spread: mixInt(key)}))
	default:
		e := &from.whole[row]
		if at, ok := t.find(&e.key, e.hash); ok {
			return at, false
		}
		// The key is canonical and its bytes are nobody else's, so it is taken as it is.
		i = t.claim(t.spread(e.hash))
		t.whole = t.whole[:i+1]
		t.whole[i].hash, t.whole[i].key = e.hash, e.key
	}
	return i, i == n
}

// EnumeratePacked sets at[i] to the entry of the key of row from+i, as UpsertPacked does for one row after the other, for
// the rows from up to to.
//
// Shape: at is at least as long as the rows; the table gains one entry per key it had not, in row order.
// Cost: as Enumerate, without making keys ready.
func EnumeratePacked[K comparable, V, X any](t *Table[K, X], p *Packed[K, V], from, to int, at []int32) {
	at = at[:to-from]
	for done := 0; done < len(at); done += run {
		for j, i := range locatePacked(t, p, from+done, min(run, len(at)-done)) {
			at[done+j] = int32(i)
		}
	}
}

// locatePacked is locate for n rows from from on.
func locatePacked[K comparable, V, X any](t *Table[K, X], p *Packed[K, V], from, n int) []uint32 {
	t.at = scratch(t.at, n)
	if len(t.slots) == 0 {
		t.resize(8)
	}
	at := t.at[:n]
	if t.hasher.kind == keysAny {
		for j := range at {
			i, _ := UpsertPacked(t, p, from+j)
			at[j] = uint32(i)
		}
		return at
	}
	t.probes = scratch(t.probes, n)
	probes := t.probes[:n]
	p.ready(from, probes)
	firstSlots(at, probes, t.slots, t.shift, t.high)
	high := t.high // that of the slots just read, also once the table has grown
	for j := 0; j < n; j++ {
		if t.hasher.kind == keysString {
			j = matchWords(at, probes, j, t.words, high)
		} else {
			j = matchInts(at, probes, j, t.ints, high)
		}
		if j < n {
			i, _ := UpsertPacked(t, p, from+j)
			at[j] = uint32(i)
		}
	}
	return at
}

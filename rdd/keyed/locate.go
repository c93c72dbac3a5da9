package keyed

import "unsafe"

// run is how many rows the bulk loops take at a time: few enough that the rows are still in the first cache when the second
// step reads them.
const run = 256

// rows is where the keys of a slice of rows lie: one every stride bytes from base.
type rows struct {
	base   unsafe.Pointer
	stride uintptr
	n      int
}

func pairRows[K, V any](s []Pair[K, V]) rows {
	return rows{unsafe.Pointer(unsafe.SliceData(s)), unsafe.Sizeof(Pair[K, V]{}), len(s)}
}

func keyRows[K any](s []K) rows {
	var k K
	return rows{unsafe.Pointer(unsafe.SliceData(s)), unsafe.Sizeof(k), len(s)}
}

// locate finds or adds the keys of at most run rows and returns their entries. Entries are numbered as they come, so a row
// added its key exactly when its entry is the number of entries there were before it.
//
// This is the first of two steps; the second goes over the entries with no care for the kind of the key. Apart, the probes of
// neighbouring rows do not wait for each other's values, and the kind of the key is looked at once per run.
// Hashes, when there are any, are those of the rows.
func (t *Table[K, V]) locate(r rows, hashes []uint64) []uint32 {
	t.at = scratch(t.at, r.n)
	if len(t.slots) == 0 {
		t.resize(8)
	}
	at := t.at[:r.n]
	switch t.hasher.kind {
	case keysString:
		t.probes = scratch(t.probes, r.n)
		probes := t.probes[:r.n]
		packRows(r, hashes, probes)
		firstSlots(at, probes, t.slots, t.shift, t.high)
		high := t.high // that of the slots just read, also once the table has grown
		for j := 0; j < len(at); j++ {
			if j = matchWords(at, probes, j, t.words, high); j < len(at) {
				at[j] = t.settleString(r, j)
			}
		}
	case keysInt:
		t.probes = scratch(t.probes, r.n)
		probes := t.probes[:r.n]
		if whole := t.hasher.layout.whole; len(t.slots) <= nearSlots && (whole == leafInt64 || whole == leafUint64) {
			homeSlots(at, r, probes, t.slots, t.shift)
		} else {
			widen(whole, r, probes)
			firstSlots(at, probes, t.slots, t.shift, t.high)
		}
		high := t.high // that of the slots just read, also once the table has grown
		for j := 0; j < len(at); j++ {
			if j = matchInts(at, probes, j, t.ints, high); j < len(at) {
				at[j] = t.settleInt(&probes[j])
			}
		}
	default:
		t.locateWhole(at, r, hashes)
	}
	return at
}

// scratch returns s, or what takes its place where it has no room for n rows. A table that only ever gets few rows has little.
func scratch[E any](s []E, n int) []E {
	if len(s) < n {
		return make([]E, min(max(2*n, 16), run))
	}
	return s
}

// packRows makes string keys ready. The middle lengths are what pack does, written out because the compiler will not inline it.
func packRows(r rows, hashes []uint64, probes []probe) {
	off := uintptr(0)
	for j := range probes {
		s := *(*string)(unsafe.Add(r.base, off))
		off += r.stride
		e := &probes[j]
		n := uint(len(s))
		if n-4 > inlineMax-4 {
			packOdd(s, hashes, j, e)
			continue
		}
		p := unsafe.Pointer(unsafe.StringData(s))
		m := min(n, 8)
		lo := load32(p, 0) | load32(p, int(m-4))<<((m-4)*8&63)
		half := n >> 3 << 2
		tail := load32(p, int(n-4-half)) | load32(p, int(n-4))<<32
		hi := tail>>((16-n)*8) | uint64(n)<<56
		e.lo, e.hi, e.spread = lo, hi, hashWords(lo, hi)
	}
}

// packOdd makes a string key ready that is very short or long.
func packOdd(s string, hashes []uint64, j int, e *probe) {
	switch {
	case len(s) <= inlineMax:
		e.lo, e.hi = pack(s)
		e.spread = hashWords(e.lo, e.hi)
		return
	case hashes != nil:
		e.spread = hashes[j]
	default:
		e.spread = hashLong(s)
	}
	e.lo, e.hi = 0, longString
}

// matchWords turns the slots read for the rows from j on into their entries until one is not there, and
// returns that row. What was added since the slots were read is not seen, and long strings never are:
// their probes have no arena offset yet.
func matchWords[V any](at []uint32, probes []probe, j int, words []wordEntry[V], high uint32) int {
	at = at[:len(probes)]
	for ; j < len(probes); j++ {
		e := &probes[j]
		// Another tag leaves high bits set and an empty slot wraps around: both are past the end.
		i := (at[j] ^ uint32(e.spread)&high) - 1
		if uint(i) >= uint(len(words)) {
			return j
		}
		if w := &words[i]; w.lo != e.lo || w.hi != e.hi {
			return j
		}
		at[j] = i
	}
	return j
}

// settleString finds or adds the string key of row j, which matchWords left.
func (t *Table[K, V]) settleString(r rows, j int) uint32 {
	e := &t.probes[j]
	if e.hi != longString {
		return t.settleWords(e)
	}
	k := (*K)(unsafe.Add(r.base, uintptr(j)*r.stride))
	i, ok := t.find(k, e.spread)
	if !ok {
		i = t.insert(k, e.spread)
	}
	return uint32(i)
}

// nearSlots is the size of slots that lie in a near cache, with the entries.
const nearSlots = 1 << 16

// homeSlots makes integer keys of 64 bits ready and reads the home slot of each row. Nothing here waits for
// anything, so that the misses of many rows are under way at once.
func homeSlots(at []uint32, r rows, probes []probe, slots []uint32, shift uint) {
	base := unsafe.Pointer(unsafe.SliceData(slots))
	mask := uint64(len(slots) - 1)
	off := uintptr(0)
	probes = probes[:len(at)]
	for j := range at {
		x := *(*uint64)(unsafe.Add(r.base, off))
		off += r.stride
		spread := mixInt(x)
		probes[j].lo, probes[j].spread = x, spread
		at[j] = *(*uint32)(unsafe.Add(base, (spread>>(shift&63))&mask*4))
	}
}

// firstSlots reads the home slot of each row, or the one behind it where that is certainly not the
// row's: a row that has to be looked for costs more than one read too many once the table is far away.
func firstSlots(at []uint32, probes []probe, slots []uint32, shift uint, high uint32) {
	base := unsafe.Pointer(unsafe.SliceData(slots))
	mask := uint64(len(slots) - 1)
	probes = probes[:len(at)]
	for j := range at {
		spread := probes[j].spread
		p := spread >> (shift & 63)
		slot, next := *(*uint32)(unsafe.Add(base, p&mask*4)), *(*uint32)(unsafe.Add(base, (p+1)&mask*4))
		if (slot^uint32(spread))&high != 0 {
			slot = next
		}
		at[j] = slot
	}
}

// matchInts turns the slots read for the rows from j on into their entries until one is not there, and returns
// that row. What was added since the slots were read is not seen.
func matchInts[V any](at []uint32, probes []probe, j int, ints []intEntry[V], high uint32) int {
	at = at[:len(probes)]
	for ; j < len(probes); j++ {
		e := &probes[j]
		i := (at[j] ^ uint32(e.spread)&high) - 1
		if uint(i) >= uint(len(ints)) || ints[i].key != e.lo {
			return j
		}
		at[j] = i
	}
	return j
}

// settleInt finds or adds the integer key of a probe.
func (t *Table[K, V]) settleInt(e *probe) uint32 {
	mask := uint64(len(t.slots) - 1)
	tag := uint32(e.spread) & t.high
	for p := e.spread >> t.shift; ; p++ {
		slot := t.slots[p&mask]
		if i := (slot ^ tag) - 1; uint(i) < uint(len(t.ints)) {
			if t.ints[i].key == e.lo {
				return i
			}
		} else if slot == 0 {
			return uint32(t.insertInt(e.lo, e.spread))
		}
	}
}

// settleWords finds or adds the short string of a probe.
func (t *Table[K, V]) settleWords(e *probe) uint32 {
	mask := uint64(len(t.slots) - 1)
	tag := uint32(e.spread) & t.high
	for p := e.spread >> t.shift; ; p++ {
		slot := t.slots[p&mask]
		if i := (slot ^ tag) - 1; uint(i) < uint(len(t.words)) {
			if w := &t.words[i]; w.lo == e.lo && w.hi == e.hi {
				return i
			}
		} else if slot == 0 {
			return uint32(t.insertWords(e.lo, e.hi, e.spread))
		}
	}
}

func (t *Table[K, V]) locateWhole(at []uint32, r rows, hashes []uint64) {
	for j := range at {
		k := (*K)(unsafe.Add(r.base, uintptr(j)*r.stride))
		var h uint64
		if hashes != nil {
			h = hashes[j]
		} else {
			h = t.hasher.layout.hash(unsafe.Pointer(k))
		}
		i, ok := t.find(k, h)
		if !ok {
			i = t.insertWhole(k, h)
		}
		at[j] = uint32(i)
	}
}

// widen makes integer keys ready: words with their signs kept.
func widen(k leaf, r rows, dst []probe) {
	switch k {
	case leafInt8:
		widenFrom[int8](r, dst)
	case leafInt16:
		widenFrom[int16](r, dst)
	case leafInt32:
		widenFrom[int32](r, dst)
	case leafUint8:
		widenFrom[uint8](r, dst)
	case leafUint16:
		widenFrom[uint16](r, dst)
	case leafUint32:
		widenFrom[uint32](r, dst)
	default:
		widenFrom[uint64](r, dst)
	}
}

func widenFrom[I int8 | int16 | int32 | uint8 | uint16 | uint32 | uint64](r rows, dst []probe) {
	off := uintptr(0)
	for j := range dst {
		x := uint64(*(*I)(unsafe.Add(r.base, off)))
		dst[j].lo, dst[j].spread = x, mixInt(x)
		off += r.stride
	}
}

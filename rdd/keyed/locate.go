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
	if t.at == nil {
		t.at = make([]uint32, run)
	}
	if len(t.slots) == 0 {
		t.resize(8)
	}
	at := t.at[:r.n]
	switch t.hasher.kind {
	case keysString:
		if t.probes == nil {
			t.probes = make([]probe, run)
		}
		probes := t.probes[:r.n]
		packRows(r, hashes, probes)
		for j := 0; j < len(at); j++ {
			if j = probeWords(at, probes, j, t.slots, t.words, t.shift, t.high); j < len(at) {
				at[j] = t.settleString(r, j)
			}
		}
	case keysInt:
		if t.probes == nil {
			t.probes = make([]probe, run)
		}
		probes := t.probes[:r.n]
		widen(t.hasher.layout.whole, r, probes)
		for j := 0; j < len(at); j++ {
			if j = probeInts(at, probes, j, t.slots, t.ints, t.shift, t.high); j < len(at) {
				at[j] = uint32(t.insertInt(probes[j].lo, probes[j].spread))
			}
		}
	default:
		t.locateWhole(at, r, hashes)
	}
	return at
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

// probeWords finds the entries of the rows from j on until one is not there, and returns that row. Long strings are never
// found: their probes have no arena offset yet.
func probeWords[V any](at []uint32, probes []probe, j int, slots []uint32, words []wordEntry[V], shift uint, high uint32) int {
	mask := uint64(len(slots) - 1)
	base := unsafe.Pointer(unsafe.SliceData(slots))
	at = at[:len(probes)]
	for ; j < len(probes); j++ {
		e := &probes[j]
		tag := uint32(e.spread) & high
		for p := e.spread >> (shift & 63); ; p++ {
			slot := *(*uint32)(unsafe.Add(base, p&mask*4))
			// Another tag leaves high bits set and an empty slot wraps around: both are past the end.
			if i := (slot ^ tag) - 1; uint(i) < uint(len(words)) {
				if w := &words[i]; w.lo == e.lo && w.hi == e.hi {
					at[j] = i
					break
				}
			} else if slot == 0 {
				return j
			}
		}
	}
	return j
}

// settleString finds or adds the string key of row j, which probeWords left.
func (t *Table[K, V]) settleString(r rows, j int) uint32 {
	e := &t.probes[j]
	if e.hi != longString {
		return uint32(t.insertWords(e.lo, e.hi, e.spread))
	}
	k := (*K)(unsafe.Add(r.base, uintptr(j)*r.stride))
	i, ok := t.find(k, e.spread)
	if !ok {
		i = t.insert(k, e.spread)
	}
	return uint32(i)
}

// probeInts finds the entries of the rows from j on until one is not there, and returns that row.
func probeInts[V any](at []uint32, probes []probe, j int, slots []uint32, ints []intEntry[V], shift uint, high uint32) int {
	mask := uint64(len(slots) - 1)
	base := unsafe.Pointer(unsafe.SliceData(slots))
	at = at[:len(probes)]
	for ; j < len(probes); j++ {
		e := &probes[j]
		tag := uint32(e.spread) & high
		for p := e.spread >> (shift & 63); ; p++ {
			slot := *(*uint32)(unsafe.Add(base, p&mask*4))
			if i := (slot ^ tag) - 1; uint(i) < uint(len(ints)) {
				if ints[i].key == e.lo {
					at[j] = i
					break
				}
			} else if slot == 0 {
				return j
			}
		}
	}
	return j
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

// column is where the values of the entries lie: one every stride bytes from base.
type column[V any] struct {
	base   unsafe.Pointer
	stride uintptr
}

// values returns where the values lie until the next key is added. There is an entry.
func (t *Table[K, V]) values() column[V] {
	switch t.hasher.kind {
	case keysString:
		return column[V]{unsafe.Pointer(&t.words[0].val), unsafe.Sizeof(t.words[0])}
	case keysInt:
		return column[V]{unsafe.Pointer(&t.ints[0].val), unsafe.Sizeof(t.ints[0])}
	default:
		return column[V]{unsafe.Pointer(&t.whole[0].val), unsafe.Sizeof(t.whole[0])}
	}
}

func (c column[V]) at(i uint32) *V {
	return (*V)(unsafe.Add(c.base, uintptr(i)*c.stride))
}

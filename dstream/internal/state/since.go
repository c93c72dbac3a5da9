package state

import "github.com/leat-io/leat/rdd/codec"

const (
	// aRound is after how many files every entry has been in a slice of one, where few keys change.
	aRound = 64
	// fewEntries is below how many a file always holds all: it is small anyway, and nothing before it is needed.
	fewEntries = 4096
	// mostChanged is the share of entries, as its inverse, above which a file holds all: with a slice as long as what changed it
	// would be half of them.
	mostChanged = 4
)

// A delta is which entries of a version a file holds.
//
//	0         from       to                   base.size       size
//	|..c...c..|==========|....c......c........|===============|      c: changed, =: in ranges
type delta struct {
	span    codec.Span // its slice
	ranges  [][2]int   // entries that are written with their keys: the slice, and what base had not
	changed []int32    // other entries that changed, whose keys are in the files before; ascending
}

// since returns what a file of v holds that follows one of base, whose slice ended at from. With fewer than few entries it is all.
//
// A slice is at least as long as what changed: so the files that are needed hold about twice the entries at most, however many keys
// change. It gets ahead of new entries by as many as a table that does not grow would need, so that slices come round however fast
// it grows.
func (v *Version[K, S]) since(base *Version[K, S], from int64, few int) delta {
	if v == nil || v.core == nil {
		return delta{}
	}
	all := delta{span: codec.Span{Entries: int64(v.size), To: int64(v.size)}, ranges: [][2]int{{0, v.size}}}
	if v.size < few || base == nil || base.core != v.core || base.size > v.size {
		return all
	}
	touched, n, ok := v.touchedSince(base)
	grown := v.size - base.size
	if n += grown; !ok || mostChanged*n > v.size {
		return all
	}
	start := 0
	if from > 0 && from < int64(base.size) {
		start = int(from)
	}
	end := min(start+max((v.size+aRound-1)/aRound, n)+grown, v.size)
	d := delta{span: codec.Span{Entries: int64(v.size), From: int64(start), To: int64(end)}}
	for _, r := range [][2]int{{start, end}, {base.size, max(min(start, v.size), base.size)}, {max(end, base.size), v.size}} {
		if r[0] < r[1] {
			d.ranges = append(d.ranges, r)
		}
	}
	d.changed = make([]int32, 0, n-grown)
	touched.each(func(at int) {
		if at < start || at >= end {
			d.changed = append(d.changed, int32(at))
		}
	})
	return d
}

// touchedSince returns the entries of base that updates from there to v have changed, and how many those are. It returns false
// where v was not made from base in their table.
func (v *Version[K, S]) touchedSince(base *Version[K, S]) (touched bits, n int, ok bool) {
	var undone [][]change[S]
	v.core.mu.RLock()
	u := base
	for ; u != v && u != nil; u = u.next {
		undone = append(undone, u.undo)
	}
	v.core.mu.RUnlock()
	if u == nil {
		return nil, 0, false
	}
	touched = newBits(base.size)
	for _, list := range undone {
		for i := range list {
			if at := int(list[i].at); at < base.size && touched.set(at) {
				n++
			}
		}
	}
	return touched, n, true
}

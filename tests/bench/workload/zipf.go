package workload

import (
	"fmt"
	"math/bits"
)

// MaxItems is the largest number of items a Zipf chooses from: 2^24, a table of 128 MB.
const MaxItems = 1 << 24

// A ZipfError is a number of items or an exponent that a Zipf cannot have.
type ZipfError struct{ Items, Exponent int }

// Error returns what was asked for and what is possible.
func (e *ZipfError) Error() string {
	return fmt.Sprintf("ranks over %d items with exponent %d: want 1 to %d items and exponent 0, 1 or 2",
		e.Items, e.Exponent, MaxItems)
}

// A Zipf turns evenly spread words into ranks, of which rank 0 is the most frequent: rank k has a
// weight of 2^40 divided by k+1 once (exponent 1) or twice (exponent 2), or all ranks weigh the
// same (exponent 0). Integer arithmetic only, so ranks are the same everywhere.
type Zipf struct {
	items uint64
	cum   []uint64 // cum[k] is the weight of ranks 0 to k; nil for exponent 0
	total uint64

	// guide cuts the range of weights into buckets of 2^shift and holds for each border the rank
	// that starts there. A bucket holds few ranks, so a look-up is one step into guide and a short
	// search in cum, where a search of all of cum would miss the cache a dozen times.
	guide []uint32
	shift uint
}

// NewZipf returns the ranks over items items with the given exponent.
//
// Errors: *ZipfError if items is not in 1 to MaxItems or exponent not in 0 to 2.
func NewZipf(items, exponent int) (*Zipf, error) {
	if items < 1 || items > MaxItems || exponent < 0 || exponent > 2 {
		return nil, &ZipfError{Items: items, Exponent: exponent}
	}
	z := &Zipf{items: uint64(items)}
	if exponent == 0 {
		return z, nil
	}
	z.cum = make([]uint64, items)
	for k := range z.cum {
		weight := uint64(1) << 40
		for range exponent {
			weight /= uint64(k) + 1
		}
		z.total += weight
		z.cum[k] = z.total
	}
	z.buildGuide()
	return z, nil
}

// buildGuide makes between one and two buckets for each item.
func (z *Zipf) buildGuide() {
	last := z.total - 1
	if n := bits.Len64(last) - bits.Len64(z.items); n > 0 {
		z.shift = uint(n)
	}
	z.guide = make([]uint32, last>>z.shift+2)
	k := 0
	for b := range z.guide {
		for border := uint64(b) << z.shift; k < len(z.cum)-1 && z.cum[k] <= border; {
			k++
		}
		z.guide[b] = uint32(k)
	}
}

// Total returns the weight of all ranks together, or the number of items for exponent 0.
func (z *Zipf) Total() uint64 {
	if z.cum == nil {
		return z.items
	}
	return z.total
}

// Rank returns the rank that the word x falls on: the smallest k whose weight, with that of all
// ranks before it, exceeds Below(x, Total()).
//
// Cost: a step into a table and a search among the few ranks that share a bucket.
func (z *Zipf) Rank(x uint64) int {
	if z.cum == nil {
		return int(Below(x, z.items))
	}
	w := Below(x, z.total)
	b := w >> z.shift
	lo, hi := int(z.guide[b]), int(z.guide[b+1])
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if z.cum[mid] > w {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

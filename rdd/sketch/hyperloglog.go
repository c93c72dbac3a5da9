package sketch

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Bounds of the precisions.
const (
	MinPrecision = 4
	MaxPrecision = 32
)

var (
	// ErrPrecision marks a precision out of range.
	ErrPrecision = errors.New("sketch: precision out of range")
	// ErrShape marks sketches that do not fit each other, or whose fields do not fit together.
	ErrShape = errors.New("sketch: wrong shape")
)

// HyperLogLog estimates how many distinct hashes it was given. New makes one; the zero value is none.
//
// The fields are exported for codecs. Programs should not change them.
type HyperLogLog struct {
	Precision       uint8 // bits of the hash that choose a register
	SparsePrecision uint8 // bits of the hash that choose an entry; at least Precision
	// Entries are index<<6 | rank under the sparse precision: the first Sorted of them ascending, one an index, then
	// those that came since. Nil once there are Registers.
	Entries []uint64
	Sorted  int
	// Registers has a byte for each register, or is nil while there are Entries.
	Registers []byte
}

const (
	rankBits = 6
	rankMask = 1<<rankBits - 1
)

// New returns an empty sketch with 2^precision registers. While it holds few hashes it tells them apart by sparse bits,
// which makes small numbers nearly exact; sparse 0 takes precision.
//
// Cost: nothing at first; at most 2^precision bytes.
// Errors: ErrPrecision unless 4 <= precision <= 32 and sparse is 0 or in precision..32.
func New(precision, sparse int) (HyperLogLog, error) {
	if precision < MinPrecision || precision > MaxPrecision || sparse > MaxPrecision || sparse != 0 && sparse < precision {
		return HyperLogLog{}, fmt.Errorf("%w: precision %d, sparse precision %d", ErrPrecision, precision, sparse)
	}
	return HyperLogLog{Precision: uint8(precision), SparsePrecision: uint8(max(precision, sparse))}, nil
}

// PrecisionFor returns the precision whose relative standard error is at most relSD, at least 4.
//
// Errors: ErrPrecision unless relSD is above 0.000017, what the highest precision gives.
func PrecisionFor(relSD float64) (int, error) {
	if !(relSD > 0.000017) {
		return 0, fmt.Errorf("%w: relative standard error %v", ErrPrecision, relSD)
	}
	return max(MinPrecision, int(math.Ceil(2*math.Log2(1.054/relSD)))), nil
}

// Add takes a hash in.
//
// Cost: constant, amortised.
func (h *HyperLogLog) Add(hash uint64) {
	if h.Registers != nil {
		i, r := indexRank(hash, h.Precision)
		h.Registers[i] = max(h.Registers[i], r)
		return
	}
	i, r := indexRank(hash, h.SparsePrecision)
	h.Entries = append(h.Entries, i<<rankBits|uint64(r))
	if len(h.Entries)-h.Sorted > 64+h.Sorted/4 {
		h.settle()
	}
}

// indexRank splits a hash: its first p bits, and the position of the first one bit behind them, from 1.
func indexRank(hash uint64, p uint8) (index uint64, rank uint8) {
	// The bit put in behind the hash bounds the rank by 64-p+1.
	return hash >> (64 - p), uint8(bits.LeadingZeros64(hash<<p|1<<(p-1))) + 1
}

// Merge takes in all hashes of other, which stays as it is.
//
// Errors: ErrShape unless both have the same precisions and are whole.
func (h *HyperLogLog) Merge(other *HyperLogLog) error {
	if err := h.Validate(); err != nil {
		return err
	}
	if err := other.Validate(); err != nil {
		return err
	}
	if h.Precision != other.Precision || h.SparsePrecision != other.SparsePrecision {
		return fmt.Errorf("%w: precisions %d, %d and %d, %d", ErrShape, h.Precision, h.SparsePrecision, other.Precision, other.SparsePrecision)
	}
	if other.Registers == nil {
		if h.Registers != nil {
			h.register(other.Entries)
			return nil
		}
		h.Entries = append(h.Entries, other.Entries...)
		h.settle()
		return nil
	}
	h.toRegisters()
	for i, r := range other.Registers {
		h.Registers[i] = max(h.Registers[i], r)
	}
	return nil
}

// Validate returns ErrShape if the fields cannot be those of a sketch, as after decoding bytes of somebody else.
func (h *HyperLogLog) Validate() error {
	if h.Precision < MinPrecision || h.SparsePrecision < h.Precision || h.SparsePrecision > MaxPrecision {
		return fmt.Errorf("%w: precisions %d, %d", ErrShape, h.Precision, h.SparsePrecision)
	}
	if h.Sorted < 0 || h.Sorted > len(h.Entries) {
		return fmt.Errorf("%w: %d of %d entries sorted", ErrShape, h.Sorted, len(h.Entries))
	}
	if h.Registers == nil {
		return h.validEntries()
	}
	if len(h.Entries) > 0 || uint64(len(h.Registers)) != 1<<h.Precision {
		return fmt.Errorf("%w: %d registers and %d entries at precision %d", ErrShape, len(h.Registers), len(h.Entries), h.Precision)
	}
	for i, r := range h.Registers {
		if r > 64-h.Precision+1 {
			return fmt.Errorf("%w: register %d is %d", ErrShape, i, r)
		}
	}
	return nil
}

func (h *HyperLogLog) validEntries() error {
	for i, e := range h.Entries {
		if rank := e & rankMask; e>>rankBits >= 1<<h.SparsePrecision || rank == 0 || rank > 64-uint64(h.SparsePrecision)+1 {
			return fmt.Errorf("%w: entry %x", ErrShape, e)
		}
		if i > 0 && i < h.Sorted && h.Entries[i-1]>>rankBits >= e>>rankBits {
			return fmt.Errorf("%w: entry %x is out of order", ErrShape, e)
		}
	}
	return nil
}

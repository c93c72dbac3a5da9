package sketch

import (
	"math/bits"
	"slices"
)

// settle sorts the young entries in, keeps the highest rank of each index, and goes over to registers when those take
// less room.
func (h *HyperLogLog) settle() {
	if h.Registers != nil || h.Sorted == len(h.Entries) {
		return
	}
	slices.Sort(h.Entries[h.Sorted:])
	old := slices.Clone(h.Entries[:h.Sorted])
	young := h.Entries[h.Sorted:]
	merged := make([]uint64, 0, len(h.Entries))
	for len(old)+len(young) > 0 {
		var e uint64
		if len(young) == 0 || len(old) > 0 && old[0] < young[0] {
			e, old = old[0], old[1:]
		} else {
			e, young = young[0], young[1:]
		}
		if last := len(merged) - 1; last >= 0 && merged[last]>>rankBits == e>>rankBits {
			merged[last] = e // of one index the higher rank comes later
		} else {
			merged = append(merged, e)
		}
	}
	h.Entries, h.Sorted = merged, len(merged)
	if uint64(len(merged))*8 > 1<<h.Precision {
		h.toRegisters()
	}
}

// toRegisters goes over from entries to registers.
func (h *HyperLogLog) toRegisters() {
	if h.Registers != nil {
		return
	}
	entries := h.Entries
	h.Entries, h.Sorted = nil, 0
	h.Registers = make([]byte, 1<<h.Precision)
	h.register(entries)
}

// register takes entries into the registers. The bits that an entry's index has more are the first ones behind the
// register's index.
func (h *HyperLogLog) register(entries []uint64) {
	more := h.SparsePrecision - h.Precision
	for _, e := range entries {
		index, rank := e>>rankBits, uint8(e&rankMask)
		if low := index & (1<<more - 1); low != 0 {
			rank = more - uint8(bits.Len64(low)) + 1
		} else {
			rank += more
		}
		i := index >> more
		h.Registers[i] = max(h.Registers[i], rank)
	}
}

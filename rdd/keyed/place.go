package keyed

import "unsafe"

// PlacePairs sets to[i] to the partition, of n, that h.Partition gives for the key of rows[i].
//
// Shape: to is as long as rows.
// Cost: as one call of Partition for each row, without the calls.
func PlacePairs[K comparable, V any](h *Hasher[K], rows []Pair[K, V], n int, to []uint32) {
	to = to[:len(rows)]
	if n <= 0 {
		clear(to)
		return
	}
	r := pairRows(rows)
	switch whole := h.layout.whole; {
	case h.kind == keysString:
		placeStrings(r, n, to)
	case h.kind == keysInt && (whole == leafInt64 || whole == leafUint64):
		placeWords(r, n, whole == leafInt64, to)
	default:
		for i := range rows {
			to[i] = uint32(h.place(&rows[i].Key, h.Hash(rows[i].Key), n))
		}
	}
}

func placeStrings(r rows, n int, to []uint32) {
	off := uintptr(0)
	for i := range to {
		s := *(*string)(unsafe.Add(r.base, off))
		off += r.stride
		to[i] = uint32(modulo(hashString(s), n, false))
	}
}

func placeWords(r rows, n int, signed bool, to []uint32) {
	off := uintptr(0)
	for i := range to {
		to[i] = uint32(modulo(*(*uint64)(unsafe.Add(r.base, off)), n, signed))
		off += r.stride
	}
}

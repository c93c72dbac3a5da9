package rdd

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// naturally says that keys are compared by Compare, so that they may be sorted by their bits.
func naturally(o *sortOptions) { o.natural = true }

// ranked is what of a key decides its place, and the row it is the key of.
type ranked struct {
	rank uint64
	row  int
}

// sortNatural returns the rows in the order of their keys, as sortedKeys does for Compare, or false where
// the type of the keys has no bits to go by.
func sortNatural[T, K any](at *place, rows []T, key func(T) K, desc bool) (sorted []T, ok bool, err error) {
	kind := reflect.TypeFor[K]().Kind()
	rank := rankOf[K](kind)
	if rank == nil {
		return nil, false, nil
	}
	keys, err := keysOf(at, rows, key)
	if err != nil {
		return nil, true, err
	}
	ranks := make([]uint64, len(keys))
	rank(keys, ranks)
	if desc {
		for i, r := range ranks {
			ranks[i] = ^r
		}
	}
	// A record that is its own key need not be found again, where equal ones cannot be told apart.
	if _, same := any(rows).([]K); same && kind <= reflect.Uint64 && bytes.Equal(bytesOf(rows), bytesOf(keys)) {
		ranks = sortWords(ranks, make([]uint64, len(ranks)))
		if desc {
			for i, r := range ranks {
				ranks[i] = ^r
			}
		}
		unrank(kind, ranks, rows)
		return rows, true, nil
	}
	items := make([]ranked, len(ranks))
	for i, r := range ranks {
		items[i] = ranked{r, i}
	}
	items = sortRanked(items, make([]ranked, len(items)))
	if kind == reflect.String {
		sortTies(items, keys, desc)
	}
	sorted = make([]T, len(rows))
	for i, item := range items {
		sorted[i] = rows[item.row]
	}
	return sorted, true, nil
}

// keysOf calls key for every row.
func keysOf[T, K any](at *place, rows []T, key func(T) K) (keys []K, err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	keys = make([]K, len(rows))
	for j := range rows {
		i = j
		keys[j] = key(rows[j])
	}
	return keys, nil
}

// bytesOf returns the memory of rows without pointers.
func bytesOf[T any](rows []T) []byte {
	if len(rows) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rows))), len(rows)*int(unsafe.Sizeof(rows[0])))
}

// rankOf returns a function that finds the ranks of keys: numbers in the order of the keys, equal where the
// keys are, or for strings where their first eight bytes are. It is nil for kinds that have none.
func rankOf[K any](kind reflect.Kind) func(keys []K, ranks []uint64) {
	switch kind {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		switch unsafe.Sizeof(*new(K)) {
		case 1:
			return ranksOf[K](rankSigned[int8])
		case 2:
			return ranksOf[K](rankSigned[int16])
		case 4:
			return ranksOf[K](rankSigned[int32])
		}
		return ranksOf[K](rankSigned[int64])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		switch unsafe.Sizeof(*new(K)) {
		case 1:
			return ranksOf[K](rankUnsigned[uint8])
		case 2:
			return ranksOf[K](rankUnsigned[uint16])
		case 4:
			return ranksOf[K](rankUnsigned[uint32])
		}
		return ranksOf[K](rankUnsigned[uint64])
	case reflect.Float32:
		return ranksOf[K](func(x float32) uint64 { return rankFloat(float64(x)) })
	case reflect.Float64:
		return ranksOf[K](rankFloat)
	case reflect.String:
		return ranksOf[K](rankString)
	}
	return nil
}

// ranksOf applies rank to keys whose memory is that of a B.
func ranksOf[K, B any](rank func(B) uint64) func(keys []K, ranks []uint64) {
	return func(keys []K, ranks []uint64) {
		for i, k := range unsafe.Slice((*B)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys)) {
			ranks[i] = rank(k)
		}
	}
}

const signBit = 1 << 63

func rankSigned[I int8 | int16 | int32 | int64](x I) uint64 { return uint64(x) ^ signBit }

func rankUnsigned[U uint8 | uint16 | uint32 | uint64](x U) uint64 { return uint64(x) }

// rankFloat puts all NaN last and makes both zeros one.
func rankFloat(x float64) uint64 {
	switch b := math.Float64bits(x); {
	case x != x:
		return math.MaxUint64
	case x == 0:
		return signBit
	case b&signBit != 0:
		return ^b
	default:
		return b | signBit
	}
}

func rankString(s string) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64([]byte(s[:8]))
	}
	var first [8]byte
	copy(first[:], s)
	return binary.BigEndian.Uint64(first[:])
}

// unrank writes the integers that have these ranks over rows.
func unrank[T any](kind reflect.Kind, ranks []uint64, rows []T) {
	flip := uint64(0)
	if kind <= reflect.Int64 {
		flip = signBit
	}
	p := unsafe.Pointer(unsafe.SliceData(rows))
	switch unsafe.Sizeof(*new(T)) {
	case 1:
		narrow(ranks, flip, unsafe.Slice((*uint8)(p), len(rows)))
	case 2:
		narrow(ranks, flip, unsafe.Slice((*uint16)(p), len(rows)))
	case 4:
		narrow(ranks, flip, unsafe.Slice((*uint32)(p), len(rows)))
	default:
		narrow(ranks, flip, unsafe.Slice((*uint64)(p), len(rows)))
	}
}

func narrow[U uint8 | uint16 | uint32 | uint64](ranks []uint64, flip uint64, to []U) {
	for i, r := range ranks {
		to[i] = U(r ^ flip)
	}
}

// sortTies puts strings in order that begin alike.
func sortTies[K any](items []ranked, keys []K, desc bool) {
	texts := unsafe.Slice((*string)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys))
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].rank == items[from].rank {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(items[from:to], func(a, b ranked) int {
				x, y := texts[a.row], texts[b.row]
				if desc {
					x, y = y, x
				}
				return cmp.Or(strings.Compare(x, y), a.row-b.row)
			})
		}
		from = to
	}
}

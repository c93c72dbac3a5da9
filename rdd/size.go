package rdd

import (
	"unsafe"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// memoryOf estimates the memory that rows take, what they refer to included, from a sample of them.
func memoryOf[T any](rows []T) int64 {
	var zero T
	flat := int64(len(rows)) * max(int64(unsafe.Sizeof(zero)), 1)
	deep := codec.SizeFunc[T]()
	if deep == nil || len(rows) == 0 {
		return flat
	}
	step := max(len(rows)/sizeSample, 1)
	var sum, n int64
	for i := 0; i < len(rows); i += step {
		sum += deep(&rows[i])
		n++
	}
	return flat + sum*int64(len(rows))/n
}

// memoryOfPacked is memoryOf for packed rows.
func memoryOfPacked[K comparable, V any](rows *keyed.Packed[K, V]) int64 {
	n := rows.Len()
	g := newGauge[K, V]()
	if g.key == nil && g.value == nil || n == 0 {
		return rows.Memory()
	}
	step := max(n/sizeSample, 1)
	var sum, seen int64
	var pair []Pair[K, V]
	for i := 0; i < n; i += step {
		pair = rows.Pairs(pair[:0], i, i+1)
		if g.key != nil {
			sum += g.key(&pair[0].Key)
		}
		if g.value != nil {
			sum += g.value(&pair[0].Value)
		}
		seen++
	}
	return rows.Memory() + sum*int64(n)/seen
}

// sizeSample is about how many rows are looked at: an error of a few percent does no harm.
const sizeSample = 64

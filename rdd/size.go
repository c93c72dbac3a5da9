package rdd

import (
	"unsafe"

	"github.com/leat-io/leat/rdd/codec"
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

// sizeSample is about how many rows are looked at: an error of a few percent does no harm.
const sizeSample = 64

package dstream

import (
	"fmt"
	"sync/atomic"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// packedBatch is what a window remembers of a batch in one partition, or of a few that were combined: each key once, with its values
// reduced. It is the partition's only record. The collector has hardly anything to look at in it. With an inverse, keys are packed
// once and looked for twice, when the batch enters the window and when it leaves it; without one they are in the order of their
// hashes.
type packedBatch[K comparable, V any] struct {
	rows *keyed.Packed[K, V]
	// places is where the keys lay in the state when the batch entered the window, nil where nobody knows. It spares looking for
	// them again and is no part of what the batch is: places that have become wrong cost time and nothing else.
	places atomic.Pointer[[]int32]
}

// Immutable tells package codec that a batch never changes, so that readers may share it.
func (b *packedBatch[K, V]) Immutable() {}

// sizeSample is how many values are looked at to tell what all of them take.
const sizeSample = 16

// Footprint tells package codec what holding the batch takes.
func (b *packedBatch[K, V]) Footprint() int64 {
	if b == nil || b.rows == nil {
		return 0
	}
	sum := b.rows.Memory() + 4*int64(b.rows.Len())
	deep := codec.SizeFunc[V]()
	if n := b.rows.Len(); deep != nil && n > 0 {
		values := b.rows.Values()
		var sample int64
		looked := min(n, sizeSample)
		for i := range looked {
			sample += deep(values.At(i * n / looked))
		}
		sum += sample * int64(n) / int64(looked)
	}
	return sum
}

// MarshalBinary encodes the pairs in their order.
func (b *packedBatch[K, V]) MarshalBinary() ([]byte, error) {
	c, err := codec.For[rdd.Pair[K, V]]()
	if err != nil {
		return nil, fmt.Errorf("encode reduced batch: %w", err)
	}
	return c.Append(nil, b.rows.Pairs(nil, 0, b.rows.Len()))
}

// UnmarshalBinary makes b the batch that was encoded.
func (b *packedBatch[K, V]) UnmarshalBinary(data []byte) error {
	c, err := codec.For[rdd.Pair[K, V]]()
	if err != nil {
		return fmt.Errorf("decode reduced batch: %w", err)
	}
	rows, err := c.Decode(data)
	if err != nil {
		return fmt.Errorf("decode reduced batch: %w", err)
	}
	h, err := keyed.HasherFor[K]()
	if err != nil {
		return fmt.Errorf("decode reduced batch: %w", err)
	}
	if h.Dynamic() {
		for i := range rows {
			if err := h.Check(rows[i].Key); err != nil {
				return fmt.Errorf("decode reduced batch: %w", err)
			}
		}
	}
	b.rows = keyed.NewPacked[K, V](h, len(rows))
	b.rows.Append(rows)
	return nil
}

// packBatch returns a record for each partition of a batch that is reduced by key, for windows with an inverse.
func packBatch[K comparable, V any](r *rdd.RDD[rdd.Pair[K, V]], h *keyed.Hasher[K]) *rdd.RDD[*packedBatch[K, V]] {
	return rdd.MapPacked(r, "packed", h, func(_ int, rows *keyed.Packed[K, V]) *packedBatch[K, V] {
		return &packedBatch[K, V]{rows: rows}
	})
}

// onlyRecord returns the record of a partition that has one, the zero value where there is none.
func onlyRecord[T any](rows rdd.Rows[T]) (record T, err error) {
	err = rows.Each(func(chunk []T) error {
		record = chunk[0]
		return nil
	})
	return record, err
}

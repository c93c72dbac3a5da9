package rdd

import "context"

// CountByValue returns how often each record occurs, in the order of a Collect over the counted
// shuffle: by partition of the record's hash, then as first seen.
//
// Cost: as ReduceByKey over the records, then Collect: all distinct records are held in memory.
// Errors: a type without value identity is keyed.ErrBadKeyType.
func CountByValue[T comparable](ctx context.Context, r *RDD[T]) ([]Pair[T, int64], error) {
	return Counts(r).Collect(ctx)
}

// CountByKey returns how many pairs each key has, in the order of CountByValue.
//
// Cost and Errors: as CountByValue over the keys.
func CountByKey[K comparable, V any](ctx context.Context, r *RDD[Pair[K, V]]) ([]Pair[K, int64], error) {
	return Counts(Keys(r)).Collect(ctx)
}

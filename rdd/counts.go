package rdd

import "github.com/leat-io/leat/rdd/keyed"

// Counts returns one pair for each distinct record: how often it occurs. It is the fastest way
// to count: no pair and no function call is made for a record.
//
// Shape: at most one pair per record; partitions by the options, else as CombineByKey; the chosen
// partitioner; records in the order first seen.
// Cost: one table probe a record; each distinct record is sent once per map partition, unless records hardly repeat
// (see CombineByKey, also for what happens without memory).
// Errors: a type without value identity is keyed.ErrBadKeyType.
func Counts[T comparable](r *RDD[T], opts ...KeyOption) *RDD[Pair[T, int64]] {
	return combine(r, "counts", combiner[T, T, int64]{
		key:    func(x *T) T { return *x },
		add:    func(t *keyed.Table[T, int64], rows []T) { keyed.Count(t, rows) },
		create: func(*T) int64 { return 1 },
		merge:  func(a, b int64) int64 { return a + b },
	}, opts)
}

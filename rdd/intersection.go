package rdd

// Intersection returns the records that both a and b have, each once.
//
// Shape: no duplicates; partitions by the options, else the default of two inputs without
// partitioner (see NumPartitions); records in the order first seen in a; no partitioner.
// Cost: as CoGroup; both inputs are shuffled whole.
// Errors: a type without value identity is keyed.ErrBadKeyType.
func Intersection[T comparable](a, b *RDD[T], opts ...KeyOption) *RDD[T] {
	both := CoGroup(marked(a), marked(b), opts...).Filter(func(p Pair[T, CoGrouped[struct{}, struct{}]]) bool {
		return len(p.Value.Left) > 0 && len(p.Value.Right) > 0
	})
	return renamed("intersection", Keys(both))
}

// marked makes every record a key.
func marked[T any](r *RDD[T]) *RDD[Pair[T, struct{}]] {
	return Map(r, func(x T) Pair[T, struct{}] { return Pair[T, struct{}]{Key: x} })
}

package rdd

// Subtract returns the records of a that b does not have; a's duplicates stay.
//
// Shape: partitions by the options, else as many as a has; records in the order of the map
// partitions and their rows; no partitioner, even where a has one.
// Cost: as SubtractByKey; both inputs are shuffled whole.
// Errors: a type without value identity is keyed.ErrBadKeyType.
func Subtract[T comparable](a, b *RDD[T], opts ...KeyOption) *RDD[T] {
	return renamed("subtract", Keys(SubtractByKey(marked(a), marked(b), opts...)))
}

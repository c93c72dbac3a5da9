package rdd

// ZipWithUniqueID returns every record with a number that no other record has: item j of
// partition k of n gets j*n + k.
//
// Shape: as Map; the record is the key of the pair; no partitioner. The numbers have gaps where
// partitions differ in length.
// Cost: none to speak of, and no job, unlike ZipWithIndex.
func ZipWithUniqueID[T any](r *RDD[T]) *RDD[Pair[T, int64]] {
	return numbered(r, "zipWithUniqueID", func(part int) (first, step int64, err error) {
		n, err := r.NumPartitions()
		return int64(part), int64(n), err
	})
}

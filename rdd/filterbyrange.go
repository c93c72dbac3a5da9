package rdd

import "cmp"

// FilterByRange returns the pairs whose keys lie between lo and hi, both included.
//
// Shape: where r has a range partitioner, only the partitions that the range touches, without
// partitioner; else r's partitions and partitioner, as Filter.
// Cost: narrow; in the first case the other partitions get no tasks.
func FilterByRange[K cmp.Ordered, V any](r *RDD[Pair[K, V]], lo, hi K) *RDD[Pair[K, V]] {
	return FilterByRangeFunc(r, lo, hi, Compare[K])
}

// FilterByRangeFunc is FilterByRange with an order of its own, as SortByFunc. It must be the order
// of r's range partitioner, if r has one.
func FilterByRangeFunc[K, V any](r *RDD[Pair[K, V]], lo, hi K, compare func(a, b K) int) *RDD[Pair[K, V]] {
	if compare == nil {
		return broken[Pair[K, V]](r.ctx, "filterByRange", ErrNilFunction).preferring(r.err)
	}
	in := r
	if p, ok := r.partitioner.(*RangePartitioner[K]); ok {
		// Sorted downwards, lo lies in the later partition.
		var from, to int
		err := onCaller(&r.base, func() error {
			from, to = p.PartitionFor(lo), p.PartitionFor(hi)
			return nil
		})
		if err != nil {
			return broken[Pair[K, V]](r.ctx, "filterByRange", err).preferring(r.err)
		}
		from, to = min(from, to), max(from, to)
		in = r.PrunePartitions(func(part int) bool { return from <= part && part <= to })
	}
	return renamed("filterByRange", in.Filter(func(x Pair[K, V]) bool {
		return compare(lo, x.Key) <= 0 && compare(x.Key, hi) <= 0
	}))
}

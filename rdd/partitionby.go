package rdd

import "github.com/leat-io/leat/lineage"

// PartitionBy returns the same pairs, each in the partition that p sends its key to.
//
// Shape: p's partitions and partitioner; duplicates stay; within a partition the order of the map
// partitions and their rows. An RDD that already has p is returned itself.
// Cost: every record goes through a shuffle.
// Errors: an answer of p out of range is ErrPartitioner, as a task error.
func PartitionBy[K comparable, V any](r *RDD[Pair[K, V]], p Partitioner[K]) *RDD[Pair[K, V]] {
	if p == nil {
		return broken[Pair[K, V]](r.ctx, "partitionBy", ErrPartitioner)
	}
	if r.partitioner != nil && r.partitioner.Equal(p) {
		return r
	}
	p, h, err := placement[K](r.ctx, keyOptions{partitioner: p}, &r.base)
	if err != nil {
		return broken[Pair[K, V]](r.ctx, "partitionBy", err).preferring(r.err)
	}
	child := newNode[Pair[K, V]](r.ctx, "partitionBy")
	child.inherit(r.err)
	child.partitioner = p
	child.count = fixed(p.NumPartitions())
	in := newKeyedInput(&child.base, 0, r, h, p)
	child.setDeps([]lineage.Dep{in.dep})
	child.compute = func(t *task, part int, out sink[Pair[K, V]]) error { return in.push(t, part, out) }
	return child
}

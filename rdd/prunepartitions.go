package rdd

import (
	"sync"

	"github.com/leat-io/leat/lineage"
)

// PrunePartitions returns the records of those partitions for whose index keep is true.
//
// Shape: the kept partitions, in order, with new indexes; no partitioner.
// Cost: the others get no tasks. keep is called once for each partition, when the count is first
// asked for.
// Errors: a panic of keep is the caller's.
func (r *RDD[T]) PrunePartitions(keep func(part int) bool) *RDD[T] {
	if keep == nil {
		return broken[T](r.ctx, "prunePartitions", ErrNilFunction).preferring(r.err)
	}
	kept := sync.OnceValues(func() ([]int, error) {
		n, err := r.NumPartitions()
		if err != nil {
			return nil, err
		}
		var kept []int
		for i := range n {
			if keep(i) {
				kept = append(kept, i)
			}
		}
		return kept, nil
	})
	child := newNode[T](r.ctx, "prunePartitions")
	child.inherit(r.err)
	child.count = func() (int, error) {
		parts, err := kept()
		return len(parts), err
	}
	child.setDeps([]lineage.Dep{{Parent: r.Node(), Narrow: func(part int) []int {
		parts, err := kept()
		if err != nil || part >= len(parts) {
			return nil
		}
		return []int{parts[part]}
	}}})
	child.compute = func(t *task, part int, out sink[T]) error {
		parts, err := kept()
		if err != nil {
			return err
		}
		return r.push(t, parts[part], out)
	}
	return child
}

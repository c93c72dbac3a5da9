package rdd

import (
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// Coalesce returns the same records in at most n partitions, each made of neighbouring ones of r.
// Use it after a filter that left little in each; Repartition can also make more of them and
// levels their sizes.
//
// Shape: min(n, N) partitions for the N of r; output i is the partitions [i*N/n, (i+1)*N/n), one
// behind the other; no partitioner.
// Cost: no shuffle: everything up to the last shuffle above runs in n tasks.
// Errors: an n below 1 is ErrArgument.
func (r *RDD[T]) Coalesce(n int) *RDD[T] {
	if n < 1 {
		return broken[T](r.ctx, "coalesce", fmt.Errorf("%w: %d partitions", ErrArgument, n)).preferring(r.err)
	}
	child := newNode[T](r.ctx, "coalesce")
	child.inherit(r.err)
	child.count = func() (int, error) {
		parents, err := r.NumPartitions()
		return min(n, parents), err
	}
	// The parent's count is asked for when it is needed: a source may have to look at its files.
	group := func(part int) (from, to int, err error) {
		parents, err := r.NumPartitions()
		if err != nil || parents == 0 {
			return 0, 0, err
		}
		from, to = slice(parents, min(n, parents), part)
		return from, to, nil
	}
	child.setDeps([]lineage.Dep{{Parent: r.Node(), Narrow: func(part int) []int {
		from, to, err := group(part)
		if err != nil {
			return nil
		}
		parents := make([]int, 0, to-from)
		for i := from; i < to; i++ {
			parents = append(parents, i)
		}
		return parents
	}}})
	child.compute = func(t *task, part int, out sink[T]) error {
		from, to, err := group(part)
		if err != nil {
			return err
		}
		for i := from; i < to; i++ {
			if err := r.push(t, i, out); err != nil {
				return err
			}
		}
		return nil
	}
	return child
}

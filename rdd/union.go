package rdd

import (
	"sort"
	"sync"

	"github.com/leat-io/leat/lineage"
)

// Union returns the records of r and then those of others, duplicates and all. See UnionAll.
func (r *RDD[T]) Union(others ...*RDD[T]) *RDD[T] {
	return UnionAll(r.ctx, append([]*RDD[T]{r}, others...)...)
}

// UnionAll returns the records of all inputs, duplicates and all.
//
// Shape: the inputs' partitions one behind the other. Where all inputs that have partitions share
// a partitioner, it has that partitioner's partitions instead, each the inputs' partitions of that
// index in argument order, so that an operation by key needs no shuffle. Without inputs it has
// no partitions.
// Cost: none of its own; narrow.
func UnionAll[T any](c *Context, inputs ...*RDD[T]) *RDD[T] {
	child := newNode[T](c, "union")
	for _, in := range inputs {
		child.inherit(in.err)
	}
	if child.err != nil {
		return child
	}
	if p := commonPartitioner(inputs); p != nil {
		return alignedUnion(child, p, inputs)
	}
	// Inputs without partitions are left out; the others' counts are looked at when the union's are.
	starts := sync.OnceValues(func() ([]int, error) {
		at := make([]int, len(inputs)+1)
		for i, in := range inputs {
			n, err := in.NumPartitions()
			if err != nil {
				return nil, err
			}
			at[i+1] = at[i] + n
		}
		return at, nil
	})
	child.count = func() (int, error) {
		at, err := starts()
		if err != nil {
			return 0, err
		}
		return at[len(inputs)], nil
	}
	deps := make([]lineage.Dep, len(inputs))
	for i, in := range inputs {
		deps[i] = lineage.Dep{Parent: in.Node(), Narrow: func(part int) []int {
			at, err := starts()
			if err != nil || part < at[i] || part >= at[i+1] {
				return nil
			}
			return []int{part - at[i]}
		}}
	}
	child.setDeps(deps)
	child.compute = func(t *task, part int, out sink[T]) error {
		at, err := starts()
		if err != nil {
			return err
		}
		i := sort.SearchInts(at, part+1) - 1 // the input whose range holds part
		return inputs[i].push(t, part-at[i], out)
	}
	return child
}

// commonPartitioner returns the partitioner that all inputs with partitions share, nil if none.
func commonPartitioner[T any](inputs []*RDD[T]) AnyPartitioner {
	var common AnyPartitioner
	var without []*RDD[T]
	for _, in := range inputs {
		switch p := in.partitioner; {
		case p == nil:
			without = append(without, in)
		case common == nil:
			common = p
		case !common.Equal(p):
			return nil
		}
	}
	if common == nil {
		return nil
	}
	for _, in := range without {
		if n, err := in.NumPartitions(); err != nil || n > 0 {
			return nil
		}
	}
	return common
}

// alignedUnion joins partition i of every input into partition i.
func alignedUnion[T any](child *RDD[T], p AnyPartitioner, inputs []*RDD[T]) *RDD[T] {
	var with []*RDD[T]
	var deps []lineage.Dep
	for _, in := range inputs {
		if in.partitioner != nil {
			with = append(with, in)
			deps = append(deps, lineage.OneToOne(in.Node()))
		}
	}
	child.setDeps(deps)
	child.partitioner = p
	child.count = fixed(p.NumPartitions())
	child.compute = func(t *task, part int, out sink[T]) error {
		for _, in := range with {
			if err := in.push(t, part, out); err != nil {
				return err
			}
		}
		return nil
	}
	return child
}

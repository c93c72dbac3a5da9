package rdd

import "github.com/leat-io/leat/lineage"

// CoGroupAll returns, for every key of any input, the values that each input has for it: one slice an input, in their
// order, empty where an input has none. It is CoGroup of any number of inputs of one type.
//
// Shape: as CoGroup; keys come in the order of the first input that has them. Without inputs there are no records.
// Cost and Errors: as CoGroup.
func CoGroupAll[K comparable, V any](c *Context, inputs []*RDD[Pair[K, V]], opts ...KeyOption) *RDD[Pair[K, [][]V]] {
	type row = Pair[K, [][]V]
	parents := make([]*base, len(inputs))
	var failed error
	for i, in := range inputs {
		parents[i] = &in.base
		if failed == nil {
			failed = in.err
		}
	}
	p, h, err := placement[K](c, keyOptionsOf(opts), parents...)
	if err != nil {
		return broken[row](c, "cogroup", err).preferring(failed)
	}
	child := newNode[row](c, "cogroup")
	child.partitioner = p
	child.count = fixed(p.NumPartitions())
	ins := make([]input[Pair[K, V]], len(inputs))
	deps := make([]lineage.Dep, len(inputs))
	for i, in := range inputs {
		ins[i] = newKeyedInput(&child.base, i, in, h, p)
		deps[i] = ins[i].dep
	}
	child.setDeps(deps)
	child.inherit(failed)
	self := &child.base
	child.compute = func(t *task, part int, out sink[row]) error {
		at := place{node: self, part: part}
		keys := newKeyIndex(h)
		sides := make([]*groups[V], len(ins))
		for i, in := range ins {
			side, err := gatherGroup(&at, keys, in, t, part)
			if err != nil {
				return err
			}
			sides[i] = side
		}
		arranged := make([][][]V, len(ins))
		for i, side := range sides {
			arranged[i] = side.arrange(keys.Len())
		}
		return pushKeys(t, keys, out, func(key int) [][]V {
			all := make([][]V, len(ins))
			for i := range all {
				all[i] = arranged[i][key]
			}
			return all
		})
	}
	return child
}

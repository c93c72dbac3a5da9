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
		g := newGrouping(t, &place{node: self, part: part}, h)
		defer g.close()
		sides := make([]*side[K, V], len(ins))
		for i, in := range ins {
			var err error
			if sides[i], err = gatherGroup(g, in, part); err != nil {
				return err
			}
		}
		return pushGroups(g, out, func(key int) [][]V {
			all := make([][]V, len(sides))
			for i, s := range sides {
				all[i] = s.at(key)
			}
			return all
		})
	}
	return child
}

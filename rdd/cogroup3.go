package rdd

import "github.com/leat-io/leat/lineage"

// CoGrouped3 are the values that three inputs have for one key, empty where an input has none.
type CoGrouped3[A, B, C any] struct {
	First  []A
	Second []B
	Third  []C
}

// CoGroup3 is CoGroup of three inputs.
//
// Shape, Cost and Errors: as CoGroup; keys of a come before those only b has, and those before the
// keys only c has.
func CoGroup3[K comparable, A, B, C any](a *RDD[Pair[K, A]], b *RDD[Pair[K, B]], c *RDD[Pair[K, C]], opts ...KeyOption) *RDD[Pair[K, CoGrouped3[A, B, C]]] {
	type row = Pair[K, CoGrouped3[A, B, C]]
	p, h, err := placement[K](a.ctx, keyOptionsOf(opts), &a.base, &b.base, &c.base)
	if err != nil {
		return broken[row](a.ctx, "cogroup", err).preferring(c.err).preferring(b.err).preferring(a.err)
	}
	child := newNode[row](a.ctx, "cogroup")
	child.inherit(a.err, b.err, c.err)
	child.partitioner = p
	child.count = fixed(p.NumPartitions())
	first := newKeyedInput(&child.base, 0, a, h, p)
	second := newKeyedInput(&child.base, 1, b, h, p)
	third := newKeyedInput(&child.base, 2, c, h, p)
	child.setDeps([]lineage.Dep{first.dep, second.dep, third.dep})
	child.compute = func(t *task, part int, out sink[row]) error {
		g := newGrouping(t, &place{node: &child.base, part: part}, h)
		defer g.close()
		as, err := gatherGroup(g, first, part)
		if err != nil {
			return err
		}
		bs, err := gatherGroup(g, second, part)
		if err != nil {
			return err
		}
		cs, err := gatherGroup(g, third, part)
		if err != nil {
			return err
		}
		return pushGroups(g, out, func(i int) CoGrouped3[A, B, C] {
			return CoGrouped3[A, B, C]{First: as.at(i), Second: bs.at(i), Third: cs.at(i)}
		})
	}
	return child
}

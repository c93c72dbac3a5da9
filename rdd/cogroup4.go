package rdd

import "github.com/leat-io/leat/lineage"

// CoGrouped4 are the values that four inputs have for one key, empty where an input has none.
type CoGrouped4[A, B, C, D any] struct {
	First  []A
	Second []B
	Third  []C
	Fourth []D
}

// CoGroup4 is CoGroup of four inputs.
//
// Shape, Cost and Errors: as CoGroup; keys come in the order of the first input that has them.
func CoGroup4[K comparable, A, B, C, D any](a *RDD[Pair[K, A]], b *RDD[Pair[K, B]], c *RDD[Pair[K, C]], d *RDD[Pair[K, D]], opts ...KeyOption) *RDD[Pair[K, CoGrouped4[A, B, C, D]]] {
	type row = Pair[K, CoGrouped4[A, B, C, D]]
	p, h, err := placement[K](a.ctx, keyOptionsOf(opts), &a.base, &b.base, &c.base, &d.base)
	if err != nil {
		return broken[row](a.ctx, "cogroup", err).preferring(d.err).preferring(c.err).preferring(b.err).preferring(a.err)
	}
	child := newNode[row](a.ctx, "cogroup")
	child.inherit(a.err, b.err, c.err, d.err)
	child.partitioner = p
	child.count = fixed(p.NumPartitions())
	first := newKeyedInput(&child.base, 0, a, h, p)
	second := newKeyedInput(&child.base, 1, b, h, p)
	third := newKeyedInput(&child.base, 2, c, h, p)
	fourth := newKeyedInput(&child.base, 3, d, h, p)
	child.setDeps([]lineage.Dep{first.dep, second.dep, third.dep, fourth.dep})
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
		ds, err := gatherGroup(g, fourth, part)
		if err != nil {
			return err
		}
		return pushGroups(g, out, func(i int) CoGrouped4[A, B, C, D] {
			return CoGrouped4[A, B, C, D]{First: as.at(i), Second: bs.at(i), Third: cs.at(i), Fourth: ds.at(i)}
		})
	}
	return child
}

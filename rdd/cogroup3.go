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
		at := place{node: &child.base, part: part}
		keys := newKeyIndex(h)
		as, err := gatherGroup(&at, keys, first, t, part)
		if err != nil {
			return err
		}
		bs, err := gatherGroup(&at, keys, second, t, part)
		if err != nil {
			return err
		}
		cs, err := gatherGroup(&at, keys, third, t, part)
		if err != nil {
			return err
		}
		x, y, z := as.arrange(keys.Len()), bs.arrange(keys.Len()), cs.arrange(keys.Len())
		return pushKeys(t, keys, out, func(i int) CoGrouped3[A, B, C] {
			return CoGrouped3[A, B, C]{First: x[i], Second: y[i], Third: z[i]}
		})
	}
	return child
}

// gatherGroup notes the rows of one input under the numbers of their keys.
func gatherGroup[K comparable, V any](at *place, keys *keyIndex[K], in input[Pair[K, V]], t *task, part int) (*groups[V], error) {
	side := new(groups[V])
	at.seen = 0
	err := in.push(t, part, func(chunk []Pair[K, V]) error { return addGroup(at, keys, side, chunk) })
	return side, err
}

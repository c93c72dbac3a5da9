package rdd

import (
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// CoGrouped are the values that two inputs have for one key, empty where an input has none.
type CoGrouped[V, W any] struct {
	Left  []V
	Right []W
}

// String returns "(left,right)".
func (g CoGrouped[V, W]) String() string { return fmt.Sprintf("(%v,%v)", g.Left, g.Right) }

// CoGroup returns, for every key of either input, the values each has for it.
//
// Shape: one pair per key, keys in the order first seen, a's before b's; values in the order of the
// map partitions and their rows. Partitions and partitioner by the options, else chosen among both
// inputs' (see NumPartitions).
// Cost: an input that has the chosen partitioner is read in place, the other is shuffled whole; a
// partition's values are held in memory, or in scratch files where there is none, from which one
// key's values at a time are read.
// Errors: a key type without value identity is keyed.ErrBadKeyType.
func CoGroup[K comparable, V, W any](a *RDD[Pair[K, V]], b *RDD[Pair[K, W]], opts ...KeyOption) *RDD[Pair[K, CoGrouped[V, W]]] {
	p, h, err := placement[K](a.ctx, keyOptionsOf(opts), &a.base, &b.base)
	if err != nil {
		return broken[Pair[K, CoGrouped[V, W]]](a.ctx, "cogroup", err).preferring(b.err).preferring(a.err)
	}
	child := newNode[Pair[K, CoGrouped[V, W]]](a.ctx, "cogroup")
	child.inherit(a.err, b.err)
	child.partitioner = p
	child.count = fixed(p.NumPartitions())
	left := newKeyedInput(&child.base, 0, a, h, p)
	right := newKeyedInput(&child.base, 1, b, h, p)
	child.setDeps([]lineage.Dep{left.dep, right.dep})
	child.compute = func(t *task, part int, out sink[Pair[K, CoGrouped[V, W]]]) error {
		g := newGrouping(t, &place{node: &child.base, part: part}, h)
		defer g.close()
		l, err := gatherGroup(g, left, part)
		if err != nil {
			return err
		}
		r, err := gatherGroup(g, right, part)
		if err != nil {
			return err
		}
		return pushGroups(g, out, func(i int) CoGrouped[V, W] { return CoGrouped[V, W]{Left: l.at(i), Right: r.at(i)} })
	}
	return child
}

package rdd

import "github.com/leat-io/leat/lineage"

// An asking is what the reader of a partition can make more of than of rows in chunks. It lies with the task while the
// partition's node is pushed. A node that can do what is asked takes it; from others rows come as always.
type asking struct {
	of *base // the node it is for
	// whole takes all pairs of the partition as one *keyed.Block that is packed, which it must not change. It is called at most
	// once, and then no rows come.
	whole func(lineage.Block) error
	// lent, where it is not nil, is set when rows are lent: they stay as they are, but what their strings lie in is much
	// larger than they are. Of rows that are kept beyond the task, the node's own makes such that stand alone.
	lent *bool
}

// asked is push with an asking.
func (n *node[T]) asked(t *task, part int, a asking, out sink[T]) error {
	if n.level.Load() == nil {
		a.of = &n.base
		t.asking = a
		defer func() { t.asking = asking{} }()
	}
	return n.push(t, part, out)
}

// takeAsking returns what is asked of a node, once: what the node reads in its turn is not asked for it.
func (t *task) takeAsking(b *base) asking {
	if t.asking.of != b {
		return asking{}
	}
	a := t.asking
	t.asking = asking{}
	return a
}

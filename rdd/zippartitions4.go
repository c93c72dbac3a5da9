package rdd

import (
	"iter"

	"github.com/leat-io/leat/lineage"
)

// ZipPartitions4 is ZipPartitions of four inputs.
//
// Shape, Cost and Errors: as ZipPartitions.
func ZipPartitions4[A, B, C, D, R any](a *RDD[A], b *RDD[B], c *RDD[C], d *RDD[D], f func(iter.Seq[A], iter.Seq[B], iter.Seq[C], iter.Seq[D]) iter.Seq[R], opts ...PartitionOption) *RDD[R] {
	if f == nil {
		return broken[R](a.ctx, "zipPartitions", ErrNilFunction)
	}
	child := newNode[R](a.ctx, "zipPartitions", lineage.OneToOne(a.Node()), lineage.OneToOne(b.Node()), lineage.OneToOne(c.Node()),
		lineage.OneToOne(d.Node()))
	child.inherit(a.err, b.err, c.err, d.err)
	child.count = sameCounts("zipPartitions", child.site, &a.base, &b.base, &c.base, &d.base)
	if preserving(opts) {
		child.partitioner = a.partitioner
	}
	self := &child.base
	child.compute = func(t *task, part int, out sink[R]) error {
		at := &place{node: self, part: part}
		as, aErr := a.seq(t, part)
		bs, bErr := b.seq(t, part)
		cs, cErr := c.seq(t, part)
		ds, dErr := d.seq(t, part)
		err := drain(at, func(_ int, in iter.Seq[A]) iter.Seq[R] { return f(in, bs, cs, ds) }, part, as, out)
		return firstOf(err, *aErr, *bErr, *cErr, *dErr)
	}
	return child
}

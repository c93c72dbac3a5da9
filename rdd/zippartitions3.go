package rdd

import (
	"errors"
	"iter"

	"github.com/leat-io/leat/lineage"
)

// ZipPartitions3 is ZipPartitions of three inputs.
//
// Shape, Cost and Errors: as ZipPartitions.
func ZipPartitions3[A, B, C, R any](a *RDD[A], b *RDD[B], c *RDD[C], f func(iter.Seq[A], iter.Seq[B], iter.Seq[C]) iter.Seq[R], opts ...PartitionOption) *RDD[R] {
	if f == nil {
		return broken[R](a.ctx, "zipPartitions", ErrNilFunction)
	}
	child := newNode[R](a.ctx, "zipPartitions", lineage.OneToOne(a.Node()), lineage.OneToOne(b.Node()), lineage.OneToOne(c.Node()))
	child.inherit(a.err, b.err, c.err)
	child.count = sameCounts("zipPartitions", child.site, &a.base, &b.base, &c.base)
	if preserving(opts) {
		child.partitioner = a.partitioner
	}
	self := &child.base
	child.compute = func(t *task, part int, out sink[R]) error {
		at := &place{node: self, part: part}
		as, aErr := a.seq(t, part)
		bs, bErr := b.seq(t, part)
		cs, cErr := c.seq(t, part)
		err := drain(at, func(_ int, in iter.Seq[A]) iter.Seq[R] { return f(in, bs, cs) }, part, as, out)
		// What stopped an input is the cause of whatever f made of the short sequence.
		return firstOf(err, *aErr, *bErr, *cErr)
	}
	return child
}

// preserving reports whether the options keep the partitioner.
func preserving(opts []PartitionOption) bool {
	var o partitionOptions
	for _, opt := range opts {
		opt(&o)
	}
	return o.preserve
}

// firstOf returns the errors of the inputs joined with err, err unchanged where there are none.
func firstOf(err error, inputs ...error) error {
	if failed := errors.Join(inputs...); failed != nil {
		return errors.Join(failed, err)
	}
	return err
}

// sameCounts returns the partition count that all parents have.
func sameCounts(op, site string, parents ...*base) func() (int, error) {
	return func() (n int, err error) {
		for _, p := range parents {
			if n, err = sameCount(op, site, parents[0], p)(); err != nil {
				return 0, err
			}
		}
		return n, nil
	}
}

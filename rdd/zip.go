package rdd

import (
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// Zip returns the pairs of the first records of a and b, of their second records, and so on.
//
// Shape: a's partitions; a and b must have as many partitions and, in each, as many records; no
// partitioner.
// Cost: narrow; b's partition is held in memory, or in a scratch file where there is none.
// Errors: ErrLengths, before any task where the partition counts differ, as a task error where the
// records do.
func Zip[T, U any](a *RDD[T], b *RDD[U]) *RDD[Pair[T, U]] {
	child := newNode[Pair[T, U]](a.ctx, "zip", lineage.OneToOne(a.Node()), lineage.OneToOne(b.Node()))
	child.inherit(a.err, b.err)
	child.count = sameCount("zip", child.site, &a.base, &b.base)
	child.compute = func(t *task, part int, out sink[Pair[T, U]]) error {
		at := place{node: &child.base, part: part}
		held := newHeldRows(t, &at, &b.node.rows.columns)
		defer held.close()
		if err := b.push(t, part, held.take); err != nil {
			return err
		}
		var buf []Pair[T, U]
		err := a.push(t, part, func(chunk []T) error {
			for len(chunk) > 0 {
				right, err := held.next(len(chunk))
				if err != nil {
					return err
				}
				n := len(right)
				if n == 0 {
					return at.failed(-1, fmt.Errorf("%w: %s has %d records in the partition, %s more", ErrLengths, b.String(), held.n, a.String()))
				}
				buf = room(buf, n)
				for i := range n {
					buf[i] = Pair[T, U]{Key: chunk[i], Value: right[i]}
				}
				chunk = chunk[n:]
				at.seen += int64(n)
				// What pairs up goes out first: a reader that has enough by then meets no error.
				if err := out(buf); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil && at.seen < held.n {
			err = at.failed(-1, fmt.Errorf("%w: %s has %d records in the partition, %s only %d", ErrLengths, b.String(), held.n, a.String(), at.seen))
		}
		return err
	}
	return child
}

// sameCount returns the partition count that both parents have.
func sameCount(op, site string, a, b *base) func() (int, error) {
	return func() (int, error) {
		n, err := a.NumPartitions()
		if err != nil {
			return 0, err
		}
		m, err := b.NumPartitions()
		if err == nil && n != m {
			err = &BuildError{Op: op, Site: site, Err: fmt.Errorf("%w: %d and %d partitions", ErrLengths, n, m)}
		}
		return n, err
	}
}

package rdd

import (
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// Zip returns the pairs of the first records of a and b, of their second records, and so on.
//
// Shape: a's partitions; a and b must have as many partitions and, in each, as many records; no
// partitioner.
// Cost: narrow; b's partition is held in memory.
// Errors: ErrLengths, before any task where the partition counts differ, as a task error where the
// records do.
func Zip[T, U any](a *RDD[T], b *RDD[U]) *RDD[Pair[T, U]] {
	child := newNode[Pair[T, U]](a.ctx, "zip", lineage.OneToOne(a.Node()), lineage.OneToOne(b.Node()))
	child.inherit(a.err, b.err)
	child.count = sameCount("zip", child.site, &a.base, &b.base)
	child.compute = func(t *task, part int, out sink[Pair[T, U]]) error {
		var right []U
		if err := b.push(t, part, func(chunk []U) error {
			right = append(right, chunk...)
			return nil
		}); err != nil {
			return err
		}
		at := place{node: &child.base, part: part}
		var buf []Pair[T, U]
		total := len(right)
		err := a.push(t, part, func(chunk []T) error {
			n := min(len(chunk), len(right))
			buf = room(buf, n)
			for i := range n {
				buf[i] = Pair[T, U]{Key: chunk[i], Value: right[i]}
			}
			right = right[n:]
			at.seen += int64(n)
			// What pairs up goes out first: a reader that has enough by then meets no error.
			if n > 0 {
				if err := out(buf); err != nil {
					return err
				}
			}
			if n < len(chunk) {
				return at.failed(-1, fmt.Errorf("%w: %s has %d records in the partition, %s more", ErrLengths, b.String(), total, a.String()))
			}
			return nil
		})
		if err == nil && len(right) > 0 {
			err = at.failed(-1, fmt.Errorf("%w: %s has %d records in the partition, %s only %d", ErrLengths, b.String(), total, a.String(), at.seen))
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

package rdd

import (
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// Rows are the records of one partition of an input, to be read once.
type Rows[T any] struct{ push func(sink[T]) error }

// Each calls f for each chunk of the records, in order. The chunk is f's until it returns. An error of f
// stops the reading and is returned; an error of the input is returned as well, and must be passed on.
func (r Rows[T]) Each(f func(chunk []T) error) error {
	if r.push == nil {
		return nil
	}
	return r.push(f)
}

// ZipRows returns the RDD whose partition i is what f makes of partition i of both inputs. It is
// the form that operators with state are built from: f reads each input in chunks, in any order, and
// hands chunks of its own to out, which it may change again when out has returned.
//
// Shape: the inputs have the same number of partitions; either may be nil, which reads as no records.
// p is what is known of where the keys of the result lie, nil if nothing.
// Cost: one call of f a partition; narrow.
// Errors: ErrLengths if the partition counts differ; what f returns or panics with, as a *UserError.
func ZipRows[A, B, U any](c *Context, op string, a *RDD[A], b *RDD[B], p AnyPartitioner, f func(part int, a Rows[A], b Rows[B], out func([]U) error) error) *RDD[U] {
	child := newNode[U](c, op)
	var deps []lineage.Dep
	count := func() (int, error) { return 0, fmt.Errorf("%s: %w: no input", op, ErrArgument) }
	if a != nil {
		child.inherit(a.err)
		deps = append(deps, lineage.OneToOne(a.Node()))
		count = a.NumPartitions
	}
	if b != nil {
		child.inherit(b.err)
		deps = append(deps, lineage.OneToOne(b.Node()))
		if a == nil {
			count = b.NumPartitions
		} else {
			count = sameCount(op, child.site, &a.base, &b.base)
		}
	}
	child.setDeps(deps)
	child.partitioner = p
	child.count = count
	child.compute = func(t *task, part int, out sink[U]) error {
		var as Rows[A]
		var bs Rows[B]
		if a != nil {
			as.push = func(s sink[A]) error { return a.push(t, part, s) }
		}
		if b != nil {
			bs.push = func(s sink[B]) error { return b.push(t, part, s) }
		}
		return zipPart(&place{node: &child.base, part: part}, as, bs, out, f)
	}
	return child
}

func zipPart[A, B, U any](at *place, a Rows[A], b Rows[B], out sink[U], f func(int, Rows[A], Rows[B], func([]U) error) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	return f(at.part, a, b, out)
}

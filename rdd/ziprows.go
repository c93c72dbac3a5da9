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
	var bs []*RDD[B]
	if b != nil {
		bs = []*RDD[B]{b}
	}
	return zipRows(c, op, a, bs, p, func(part int, a Rows[A], bs []Rows[B], out func([]U) error) error {
		var b Rows[B]
		if len(bs) > 0 {
			b = bs[0]
		}
		return f(part, a, b, out)
	})
}

// ZipRowsAll is ZipRows with any number of second inputs: f is given partition i of a and partition i of each of them, in
// their order, and reads them where they lie.
//
// Shape, Cost and Errors: as ZipRows; a may be nil, or there may be no second input.
func ZipRowsAll[A, B, U any](c *Context, op string, a *RDD[A], bs []*RDD[B], p AnyPartitioner, f func(part int, a Rows[A], bs []Rows[B], out func([]U) error) error) *RDD[U] {
	return zipRows(c, op, a, bs, p, f)
}

func zipRows[A, B, U any](c *Context, op string, a *RDD[A], bs []*RDD[B], p AnyPartitioner, f func(part int, a Rows[A], bs []Rows[B], out func([]U) error) error) *RDD[U] {
	child := newNode[U](c, op)
	var deps []lineage.Dep
	var parents []*base
	if a != nil {
		child.inherit(a.err)
		deps, parents = append(deps, lineage.OneToOne(a.Node())), append(parents, &a.base)
	}
	for _, b := range bs {
		child.inherit(b.err)
		deps, parents = append(deps, lineage.OneToOne(b.Node())), append(parents, &b.base)
	}
	child.setDeps(deps)
	child.partitioner = p
	if len(parents) == 0 {
		child.count = func() (int, error) { return 0, fmt.Errorf("%s: %w: no input", op, ErrArgument) }
	} else {
		child.count = sameCounts(op, child.site, parents...)
	}
	child.compute = func(t *task, part int, out sink[U]) error {
		var as Rows[A]
		if a != nil {
			as.push = func(s sink[A]) error { return a.push(t, part, s) }
		}
		rows := make([]Rows[B], len(bs))
		for i, b := range bs {
			rows[i].push = func(s sink[B]) error { return b.push(t, part, s) }
		}
		return zipPart(&place{node: &child.base, part: part}, as, rows, out, f)
	}
	return child
}

func zipPart[A, B, U any](at *place, a Rows[A], bs []Rows[B], out sink[U], f func(int, Rows[A], []Rows[B], func([]U) error) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	return f(at.part, a, bs, out)
}

package rdd

import "github.com/leat-io/leat/lineage"

// MapRowsLending is ZipRows with one input and an f that may lend rows: where it is told to, the strings in the rows it hands to
// out may lie in memory that is much larger than they are, as long as nobody changes that memory any more. Own makes such a
// row stand alone. Lending spares copies where most rows are only looked at, as by TakeOrdered and Top.
//
// Shape, Cost and Errors: as ZipRows. Without own nothing is lent.
func MapRowsLending[A, U any](r *RDD[A], op string, p AnyPartitioner, own func(U) U, f func(part int, rows Rows[A], lend bool, out func([]U) error) error) *RDD[U] {
	child := newNode[U](r.ctx, op, lineage.OneToOne(r.Node()))
	child.inherit(r.err)
	child.count = r.NumPartitions
	child.partitioner = p
	child.own = own
	self, parent := &child.base, r.node
	child.compute = func(t *task, part int, out sink[U]) error {
		lent := t.takeAsking(self).lent
		lend := lent != nil && own != nil
		if lend {
			*lent = true
		}
		rows := Rows[A]{push: func(s sink[A]) error { return parent.push(t, part, s) }}
		return zipPart(&place{node: self, part: part}, rows, nil, out, func(part int, rows Rows[A], _ []Rows[struct{}], out func([]U) error) error {
			return f(part, rows, lend, out)
		})
	}
	return child
}

package rdd

import (
	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/keyed"
)

// MapPacked returns the RDD with one record for each partition of r: what f makes of the partition's pairs, packed in their
// order. The pairs may be those of a shuffle block, which others read as well: neither they nor what their values refer to must
// be changed.
//
// Shape: same partitions, an empty one has a record as well; the partitioner of r, which then says where the pairs in the
// records lie.
// Cost: behind a reduction by key the pairs are the table's or the shuffle block's own; else they are packed, one copy each.
// Errors: a panic of f is a *UserError naming this call and the partition.
func MapPacked[K comparable, V, U any](r *RDD[Pair[K, V]], op string, h *keyed.Hasher[K], f func(part int, pairs *keyed.Packed[K, V]) U) *RDD[U] {
	child := newNode[U](r.ctx, op, lineage.OneToOne(r.Node()))
	child.inherit(r.err)
	child.count = r.NumPartitions
	child.partitioner = r.partitioner
	self, parent := &child.base, r.node
	child.compute = func(t *task, part int, out sink[U]) error {
		var pairs *keyed.Packed[K, V]
		collected := keyed.NewPacked[K, V](h, 0)
		err := parent.asked(t, part, asking{whole: func(b lineage.Block) error {
			pairs = b.(*keyed.Block[K, V]).Packed
			return nil
		}}, func(chunk []Pair[K, V]) error {
			collected.Append(chunk)
			return nil
		})
		if err != nil {
			return err
		}
		if pairs == nil {
			collected.Trim()
			pairs = collected
		}
		record, err := ofPacked(&place{node: self, part: part}, pairs, f)
		if err != nil {
			return err
		}
		return out([]U{record})
	}
	return child
}

func ofPacked[K comparable, V, U any](at *place, pairs *keyed.Packed[K, V], f func(int, *keyed.Packed[K, V]) U) (record U, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	return f(at.part, pairs), nil
}

package rdd

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// Repartition returns the same records dealt out evenly over n partitions, more or fewer than
// before.
//
// Shape: n partitions; from each partition of r they get numbers of records that differ by at
// most one; no partitioner. Each partition of r starts dealing at a place of its own, fixed by its
// index, so that many short ones do not all fill the first outputs.
// Order: within an output, the order of the map partitions and their rows.
// Cost: every record goes through a shuffle; a task that has no memory for its outputs hands them over in
// pieces. Coalesce makes fewer partitions without one.
// Errors: an n below 1 is ErrArgument.
func (r *RDD[T]) Repartition(n int) *RDD[T] {
	if n < 1 {
		return broken[T](r.ctx, "repartition", fmt.Errorf("%w: %d partitions", ErrArgument, n)).preferring(r.err)
	}
	child := newNode[T](r.ctx, "repartition")
	child.inherit(r.err)
	child.count = fixed(n)
	dep := dealt(&child.base, r.node, n, func(part int, row int64) int {
		return int((startOf(part) + uint64(row)) % uint64(n))
	})
	child.setDeps([]lineage.Dep{dep})
	child.compute = func(t *task, part int, out sink[T]) error {
		return fetchRows(t, dep.Shuffle, part, r.clone, out)
	}
	return child
}

// startOf scatters the indexes of partitions; half the range leaves room to count up from.
func startOf(part int) uint64 {
	x := uint64(part)*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return (x ^ x>>32) >> 1
}

// dealt returns the dependency that sends row number row of parent partition part to the bucket
// which deal names. It looks at no record.
func dealt[T any](child *base, parent *node[T], buckets int, deal func(part int, row int64) int) lineage.Dep {
	s := &lineage.Shuffle{
		ID:     lineage.ShuffleID{Node: child.id},
		Parent: parent, NumReducers: buckets, Codec: &parent.rows,
	}
	s.Write = func(ctx context.Context, env lineage.Env, part int, out lineage.Buckets) error {
		t := newTask(ctx, env)
		rows := newRowBuckets[T](t, out, buckets)
		defer rows.budget.release()
		var at place
		err := parent.push(t, part, func(chunk []T) error {
			return rows.add(&at, chunk, func(at *place, chunk []T, to []uint32) error {
				for i := range to {
					to[i] = uint32(deal(part, at.seen+int64(i)))
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		return rows.put()
	}
	return lineage.Dep{Parent: parent, Shuffle: s}
}

package rdd

import (
	"context"

	"github.com/leat-io/leat/lineage"
)

// SubtractByKey returns the pairs of a whose keys b does not have; a's duplicates stay.
//
// Shape: partitions and partitioner by the options, else a's partitioner, else a hash partitioner
// with as many partitions as a has; pairs in the order of the map partitions and their rows.
// Cost: an input that has the chosen partitioner is read in place, the other is shuffled whole; a
// partition of a is held in memory, b's is not; where there is none, both go through scratch files.
// Errors: a key type without value identity is keyed.ErrBadKeyType.
func SubtractByKey[K comparable, V, W any](a *RDD[Pair[K, V]], b *RDD[Pair[K, W]], opts ...KeyOption) *RDD[Pair[K, V]] {
	fail := func(err error) *RDD[Pair[K, V]] {
		return broken[Pair[K, V]](a.ctx, "subtractByKey", err).preferring(b.err).preferring(a.err)
	}
	o := keyOptionsOf(opts)
	if o.partitioner == nil && !o.hasN {
		n, err := a.NumPartitions()
		if err != nil {
			return fail(err)
		}
		if a.partitioner != nil {
			o.partitioner = a.partitioner
		} else {
			o.n, o.hasN = n, true
		}
	}
	p, h, err := placement[K](a.ctx, o)
	if err != nil {
		return fail(err)
	}
	child := newNode[Pair[K, V]](a.ctx, "subtractByKey")
	child.inherit(a.err, b.err)
	child.partitioner = p
	child.count = fixed(p.NumPartitions())
	left := newKeyedInput(&child.base, 0, a, h, p)
	right := newKeyedInput(&child.base, 1, b, h, p)
	child.setDeps([]lineage.Dep{left.dep, right.dep})
	only := new(lazyCodec[K])
	child.compute = func(t *task, part int, out sink[Pair[K, V]]) error {
		sub := newSubtraction(t, &place{node: &child.base, part: part}, h, &a.node.rows.columns, only)
		defer sub.close()
		if err := left.push(t, part, sub.take); err != nil {
			return err
		}
		var keys []K
		if err := right.push(t, part, func(chunk []Pair[K, W]) error {
			keys = keys[:0]
			for i := range chunk {
				keys = append(keys, chunk[i].Key)
			}
			return sub.strike(keys)
		}); err != nil {
			return err
		}
		return sub.push(out)
	}
	return child
}

// pushOwn pushes rows that nobody else holds, in chunks, without copying them.
func pushOwn[T any](t *task, rows []T, out sink[T]) error {
	for len(rows) > 0 {
		if err := context.Cause(t.ctx); err != nil {
			return err
		}
		n := min(len(rows), chunkSize)
		if err := out(rows[:n:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

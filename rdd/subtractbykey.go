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
// partition of a is held in memory, b's is not.
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
	child.compute = func(t *task, part int, out sink[Pair[K, V]]) error {
		at := place{node: &child.base, part: part}
		keys := newKeyIndex(h)
		var rows []Pair[K, V]
		var key []int32 // of each row, its number in keys
		if err := left.push(t, part, func(chunk []Pair[K, V]) error {
			for i := range chunk {
				if h.Dynamic() {
					if err := h.Check(chunk[i].Key); err != nil {
						return at.failed(i, err)
					}
				}
				n, _ := keys.Upsert(chunk[i].Key)
				key = append(key, int32(n))
			}
			rows = append(rows, chunk...)
			at.seen += int64(len(chunk))
			return nil
		}); err != nil {
			return err
		}
		gone := make([]bool, keys.Len())
		if err := right.push(t, part, func(chunk []Pair[K, W]) error {
			for i := range chunk {
				if n, ok := keys.Find(chunk[i].Key); ok {
					gone[n] = true
				}
			}
			return nil
		}); err != nil {
			return err
		}
		n := 0
		for i, k := range key {
			if !gone[k] {
				rows[n] = Pair[K, V]{Key: h.Canonical(rows[i].Key), Value: rows[i].Value}
				n++
			}
		}
		return pushOwn(t, rows[:n], out)
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

package rdd

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd/keyed"
)

// ReduceByKeyLocally returns one pair per key: its values combined by f, which must be associative
// and may change its first argument, not its second.
//
// Order: keys as first seen; a key's values each partition in its order, then the partitions in
// theirs.
// Cost: one job without a shuffle; each partition brings home one pair per key, and all of them are
// held in memory.
// Errors: ErrEmpty without partitions; a panic of f is a *UserError naming the RDD and the
// partition; a key type without value identity is keyed.ErrBadKeyType.
func ReduceByKeyLocally[K comparable, V any](ctx context.Context, r *RDD[Pair[K, V]], f func(V, V) V) ([]Pair[K, V], error) {
	const name = "reduceByKeyLocally"
	if f == nil {
		return nil, &BuildError{Op: name, Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	h, err := keyed.HasherFor[K]()
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", name, r.String(), err)
	}
	n, err := r.NumPartitions()
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, ErrEmpty
	}
	fold := folder[Pair[K, V], K, V]{node: &r.base, hasher: h, combiner: combiner[Pair[K, V], K, V]{
		key:   keyOf[K, V],
		add:   func(t *keyed.Table[K, V], rows []Pair[K, V]) { keyed.Reduce(t, rows, f, nil) },
		merge: f,
	}}
	partials := make([][]Pair[K, V], n)
	err = runRows(ctx, r.subject(), name, allParts(n), func(t *task, part int) (*rowBlock[Pair[K, V]], error) {
		table, err := fold.rows(part, func(out sink[Pair[K, V]]) error { return r.push(t, part, out) })
		if err != nil {
			return nil, err
		}
		return &rowBlock[Pair[K, V]]{rows: table.Pairs(nil, 0, table.Len())}, nil
	}, func(i int, rows []Pair[K, V]) error {
		partials[i] = rows
		return nil
	})
	if err != nil {
		return nil, err
	}
	table, err := fold.rows(-1, func(out sink[Pair[K, V]]) error {
		for _, rows := range partials {
			if err := out(rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return table.Pairs([]Pair[K, V]{}, 0, table.Len()), nil
}

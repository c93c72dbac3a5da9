package rdd

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd/keyed"
)

// Lookup returns the values of a key, in partition order and within partitions in theirs; none
// for a key that is not there.
//
// Cost: one task where r has a partitioner, else one a partition.
// Errors: a key type without value identity is keyed.ErrBadKeyType; a partitioner that answers out
// of range is ErrPartitioner.
func Lookup[K comparable, V any](ctx context.Context, r *RDD[Pair[K, V]], key K) ([]V, error) {
	n, err := r.NumPartitions()
	if err != nil {
		return nil, err
	}
	h, err := keyed.HasherFor[K]()
	if err == nil {
		err = h.Check(key)
	}
	if err != nil {
		return nil, &BuildError{Op: "lookup", Site: r.ctx.callSite(), Err: err}
	}
	parts := allParts(n)
	if p, ok := typedPartitioner[K](r.partitioner); ok && n > 0 {
		var part int
		err := onCaller(&r.base, func() (err error) {
			part, err = partitionOf(p, key)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("lookup in %s of %s: %w", r.String(), r.site, err)
		}
		parts = []int{part}
	}
	key = h.Canonical(key)
	found := make([][]V, len(parts))
	err = runRows(ctx, r.subject(), "lookup", parts, func(t *task, part int) (*rowBlock[V], error) {
		b := &rowBlock[V]{}
		err := r.push(t, part, func(chunk []Pair[K, V]) error {
			for i := range chunk {
				if h.Equal(h.Canonical(chunk[i].Key), key) {
					b.rows = append(b.rows, chunk[i].Value)
				}
			}
			return nil
		})
		return b, err
	}, func(i int, rows []V) error {
		found[i] = rows
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := []V{}
	for _, rows := range found {
		all = append(all, rows...)
	}
	return all, nil
}

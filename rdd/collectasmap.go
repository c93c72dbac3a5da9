package rdd

import (
	"context"

	"github.com/leat-io/leat/rdd/keyed"
)

// CollectAsMap returns one pair for each key, with the last of its values in the order of Collect.
//
// Order: keys as first seen, so that the answer repeats; a Go map would lose that, and could not
// find NaN keys again.
// Cost: as Collect: all pairs are held in memory.
// Errors: a key type without value identity is keyed.ErrBadKeyType.
func CollectAsMap[K comparable, V any](ctx context.Context, r *RDD[Pair[K, V]]) ([]Pair[K, V], error) {
	h, err := keyed.HasherFor[K]()
	if err != nil {
		return nil, &BuildError{Op: "collectAsMap", Site: r.ctx.callSite(), Err: err}
	}
	n, err := r.NumPartitions()
	if err != nil {
		return nil, err
	}
	parts := make([][]Pair[K, V], n)
	err = runRows(ctx, r.subject(), "collectAsMap", allParts(n), func(t *task, part int) (*rowBlock[Pair[K, V]], error) {
		var rows rowBuffer[Pair[K, V]]
		at := place{node: &r.base, part: part}
		err := r.push(t, part, func(chunk []Pair[K, V]) error {
			for i := range chunk {
				if !h.Dynamic() {
					break
				}
				if err := h.Check(chunk[i].Key); err != nil {
					return at.failed(i, err)
				}
			}
			at.seen += int64(len(chunk))
			rows.add(chunk)
			return nil
		})
		return &rowBlock[Pair[K, V]]{rows: rows.take()}, err
	}, func(i int, rows []Pair[K, V]) error {
		parts[i] = rows
		return nil
	})
	if err != nil {
		return nil, err
	}
	keys := newKeyIndex(h)
	last := []Pair[K, V]{}
	for _, rows := range parts {
		for _, x := range rows {
			i, fresh := keys.Upsert(x.Key)
			if fresh {
				last = append(last, Pair[K, V]{Key: h.Canonical(x.Key)})
			}
			last[i].Value = x.Value
		}
	}
	return last, nil
}

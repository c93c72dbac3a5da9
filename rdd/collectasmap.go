package rdd

import (
	"context"
	"fmt"

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
		return nil, fmt.Errorf("collectAsMap of %s: %w", r.String(), err)
	}
	parts, err := r.collect(ctx, "collectAsMap")
	if err != nil {
		return nil, err
	}
	keys := newKeyIndex(h)
	last := []Pair[K, V]{}
	for _, rows := range parts {
		for _, x := range rows {
			if err := h.Check(x.Key); err != nil {
				return nil, fmt.Errorf("collectAsMap of %s: %w", r.String(), err)
			}
			i, fresh := keys.Upsert(x.Key)
			if fresh {
				last = append(last, Pair[K, V]{Key: h.Canonical(x.Key)})
			}
			last[i].Value = x.Value
		}
	}
	return last, nil
}

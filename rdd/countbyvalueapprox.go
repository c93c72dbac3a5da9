package rdd

import (
	"context"
	"time"

	"github.com/leat-io/leat/rdd/keyed"
)

// CountByValueApprox returns how often each record occurs if all partitions are counted within the timeout, and otherwise,
// for each record seen by then, what the partitions that are let expect. It ends as CountApprox does.
//
// Shape: one pair for each record that was met, in partition order as first seen; see Estimate. A record that was met in
// no partition is not there. The bounds are as CountApprox's, record by record.
// Cost: one task a partition, no shuffle; the distinct records of each partition come home.
// Errors: as CountApprox; a type without value identity is keyed.ErrBadKeyType.
func CountByValueApprox[T comparable](ctx context.Context, r *RDD[T], timeout time.Duration, confidence float64) ([]Pair[T, Estimate], error) {
	h, err := keyed.HasherFor[T]()
	if err != nil {
		return nil, &BuildError{Op: "countByValueApprox", Site: r.ctx.callSite(), Err: err}
	}
	fold := folder[T, T, int64]{node: &r.base, hasher: h, combiner: combiner[T, T, int64]{
		key: func(x *T) T { return *x },
		add: func(t *keyed.Table[T, int64], rows []T) { keyed.Count(t, rows) },
	}}
	counts, parts, err := within(ctx, r.subject(), "countByValueApprox", timeout, confidence, func(t *task, part int) ([]Pair[T, int64], error) {
		table, err := fold.rows(part, func(out sink[T]) error { return r.push(t, part, out) })
		if err != nil {
			return nil, err
		}
		return table.Pairs(nil, 0, table.Len()), nil
	})
	if err != nil {
		return nil, err
	}
	type met struct {
		seen   int64
		counts Statistics // of the partitions where it was met
	}
	all := keyed.New[T, met](h, 0)
	for _, part := range counts {
		for _, p := range part {
			i, _ := all.Upsert(p.Key)
			m := all.Value(i)
			m.seen, m.counts = m.seen+p.Value, m.counts.with(float64(p.Value))
		}
	}
	out := make([]Pair[T, Estimate], all.Len())
	for i := range out {
		m := *all.Value(i)
		seen := float64(m.seen)
		out[i].Key = all.Key(i)
		if len(counts) == parts {
			out[i].Value = exactly(seen)
			continue
		}
		elsewhere := Statistics{Count: int64(len(counts)) - m.counts.Count} // partitions done that have none
		out[i].Value = clusterTotal(m.counts.Join(elsewhere), parts, confidence).atLeast(seen)
	}
	return out, nil
}

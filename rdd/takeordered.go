package rdd

import (
	"cmp"
	"context"
	"fmt"
)

// TakeOrdered returns the n smallest records, ascending, NaN last; fewer where there are not so
// many.
//
// Order: of equal records the first ones in partition order are taken, and stay in that order.
// Cost: one task a partition, which holds no more than a few times n records; n records of each
// come home. n = 0 runs no job.
// Errors: a negative n is ErrArgument.
func TakeOrdered[T cmp.Ordered](ctx context.Context, r *RDD[T], n int) ([]T, error) {
	return takeOrdered(ctx, r, "takeOrdered", n, ordering[T]{compare: Compare[T]})
}

// TakeOrderedFunc is TakeOrdered with an order of its own, as SortByFunc.
//
// Errors: besides, a panic of compare is a *UserError naming the RDD and the partition.
func TakeOrderedFunc[T any](ctx context.Context, r *RDD[T], n int, compare func(a, b T) int) ([]T, error) {
	return takeOrdered(ctx, r, "takeOrdered", n, ordering[T]{compare: compare})
}

// An ordering is how records are compared. down turns it round: it is told apart so that a record that loses costs one call.
type ordering[T any] struct {
	compare func(a, b T) int
	down    bool
}

// call compares in the order's direction.
func (o ordering[T]) call(a, b T) int {
	if o.down {
		a, b = b, a
	}
	return o.compare(a, b)
}

func takeOrdered[T any](ctx context.Context, r *RDD[T], name string, n int, order ordering[T]) ([]T, error) {
	switch {
	case order.compare == nil:
		return nil, &BuildError{Op: name, Site: r.ctx.callSite(), Err: ErrNilFunction}
	case n < 0:
		return nil, fmt.Errorf("%s on %s: %w: %d records", name, r.String(), ErrArgument, n)
	}
	parts, err := r.NumPartitions()
	if err != nil {
		return nil, err
	}
	if n == 0 || parts == 0 {
		return []T{}, nil
	}
	best := make([][]T, parts)
	err = runRows(ctx, r.subject(), name, allParts(parts), func(t *task, part int) (*rowBlock[T], error) {
		at := place{node: &r.base, part: part}
		var rows []T
		bounded := false // there are n rows, and what does not come before the last of them is not wanted
		lent := false
		var buf []T // scratch of the sorts
		sorted := func() error {
			if cap(buf) < len(rows)/2 {
				buf = make([]T, len(rows)/2)
			}
			return sortBest(&at, rows, buf, order.call)
		}
		err := r.asked(t, part, asking{lent: &lent}, func(chunk []T) (err error) {
			if !bounded {
				rows = append(rows, chunk...)
			} else if rows, err = appendBefore(&at, rows, chunk, rows[n-1], order); err != nil {
				return err
			}
			at.seen += int64(len(chunk))
			// As much again as is kept may come in before it is sorted out, so that each record
			// takes part in few sorts.
			if len(rows)-n < max(n, chunkSize) {
				return nil
			}
			if err := sorted(); err != nil {
				return err
			}
			rows, bounded = rows[:n], true
			return nil
		})
		if err == nil {
			err = sorted()
		}
		rows = rows[:min(n, len(rows))]
		if lent {
			for i := range rows {
				rows[i] = r.own(rows[i])
			}
		}
		return &rowBlock[T]{rows: compact(rows)}, err
	}, func(i int, rows []T) error {
		best[i] = rows
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := []T{}
	for _, rows := range best {
		all = append(all, rows...)
	}
	err = sortRows(&place{node: &r.base, part: -1}, all, order.call)
	return all[:min(n, len(all))], err
}

func sortBest[T any](at *place, rows, buf []T, compare func(a, b T) int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	sortMerging(rows, buf[:cap(buf)], compare)
	return nil
}

// appendBefore appends the rows of chunk that come before bound.
func appendBefore[T any](at *place, rows, chunk []T, bound T, order ordering[T]) (out []T, err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	compare := order.compare
	if order.down {
		for i = range chunk {
			if compare(bound, chunk[i]) < 0 {
				rows = append(rows, chunk[i])
			}
		}
		return rows, nil
	}
	for i = range chunk {
		if compare(chunk[i], bound) < 0 {
			rows = append(rows, chunk[i])
		}
	}
	return rows, nil
}

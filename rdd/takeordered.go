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
	return takeOrdered(ctx, r, "takeOrdered", n, Compare[T])
}

// TakeOrderedFunc is TakeOrdered with an order of its own, as SortByFunc.
//
// Errors: besides, a panic of compare is a *UserError naming the RDD and the partition.
func TakeOrderedFunc[T any](ctx context.Context, r *RDD[T], n int, compare func(a, b T) int) ([]T, error) {
	return takeOrdered(ctx, r, "takeOrdered", n, compare)
}

func takeOrdered[T any](ctx context.Context, r *RDD[T], name string, n int, compare func(a, b T) int) ([]T, error) {
	switch {
	case compare == nil:
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
		err := r.push(t, part, func(chunk []T) (err error) {
			if !bounded {
				rows = append(rows, chunk...)
			} else if rows, err = appendBefore(&at, rows, chunk, rows[n-1], compare); err != nil {
				return err
			}
			at.seen += int64(len(chunk))
			// As much again as is kept may come in before it is sorted out, so that each record
			// takes part in few sorts.
			if len(rows)-n < max(n, chunkSize) {
				return nil
			}
			if err := sortRows(&at, rows, compare); err != nil {
				return err
			}
			rows, bounded = rows[:n], true
			return nil
		})
		if err == nil {
			err = sortRows(&at, rows, compare)
		}
		return &rowBlock[T]{rows: compact(rows[:min(n, len(rows))])}, err
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
	err = sortRows(&place{node: &r.base, part: -1}, all, compare)
	return all[:min(n, len(all))], err
}

// appendBefore appends the rows of chunk that come before bound.
func appendBefore[T any](at *place, rows, chunk []T, bound T, compare func(a, b T) int) (out []T, err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	for i = range chunk {
		if compare(chunk[i], bound) < 0 {
			rows = append(rows, chunk[i])
		}
	}
	return rows, nil
}

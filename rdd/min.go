package rdd

import (
	"cmp"
	"context"
)

// Min returns the smallest record; NaN is larger than every other float.
//
// Cost: as Reduce.
// Errors: ErrEmpty without records.
func Min[T cmp.Ordered](ctx context.Context, r *RDD[T]) (T, error) {
	return MinFunc(ctx, r, Compare[T])
}

// MinFunc is Min with an order of its own, as SortByFunc; of equal records the first.
func MinFunc[T any](ctx context.Context, r *RDD[T], compare func(a, b T) int) (T, error) {
	if compare == nil {
		var none T
		return none, &BuildError{Op: "min", Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	return r.Reduce(ctx, func(a, b T) T {
		if compare(b, a) < 0 {
			return b
		}
		return a
	})
}

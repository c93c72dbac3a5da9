package rdd

import (
	"cmp"
	"context"
)

// Max returns the largest record; NaN is larger than every other float.
//
// Cost: as Reduce.
// Errors: ErrEmpty without records.
func Max[T cmp.Ordered](ctx context.Context, r *RDD[T]) (T, error) {
	return MaxFunc(ctx, r, Compare[T])
}

// MaxFunc is Max with an order of its own, as SortByFunc; of equal records the first.
func MaxFunc[T any](ctx context.Context, r *RDD[T], compare func(a, b T) int) (T, error) {
	if compare == nil {
		var none T
		return none, &BuildError{Op: "max", Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	return r.Reduce(ctx, func(a, b T) T {
		if compare(a, b) < 0 {
			return b
		}
		return a
	})
}

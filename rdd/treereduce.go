package rdd

import "context"

// TreeReduce is Reduce that combines the partitions' results in depth steps, all but the last of
// them in tasks.
//
// Order and Cost: as TreeAggregate; f must be commutative too.
// Errors: ErrEmpty without records; a depth below 1 is ErrArgument; a panic of f is a *UserError.
func TreeReduce[T any](ctx context.Context, r *RDD[T], f func(T, T) T, depth int) (T, error) {
	var zero T
	if f == nil {
		return zero, &BuildError{Op: "treeReduce", Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	seq := func(acc Option[T], x T) Option[T] {
		if acc.OK {
			return Option[T]{Value: f(acc.Value, x), OK: true}
		}
		return Option[T]{Value: x, OK: true}
	}
	comb := func(acc, other Option[T]) Option[T] {
		if !other.OK {
			return acc
		}
		return seq(acc, other.Value)
	}
	acc, err := treeAggregate(ctx, r, "treeReduce", Option[T]{}, seq, comb, depth)
	if err != nil {
		return zero, err
	}
	if !acc.OK {
		return zero, ErrEmpty
	}
	return acc.Value, nil
}

package rdd

import "context"

// Reduce returns all records combined by f, which must be associative and may change its first
// argument.
//
// Order: each partition in its order, then the partitions' results in partition order, so that the
// answer repeats even for floats.
// Cost: one task a partition.
// Errors: ErrEmpty without records; a panic of f is a *UserError naming the RDD and the partition.
func (r *RDD[T]) Reduce(ctx context.Context, f func(T, T) T) (T, error) {
	var zero T
	if f == nil {
		return zero, &BuildError{Op: "reduce", Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	partials, err := everywhere(ctx, r.subject(), "reduce", func(t *task, part int) (Option[T], error) {
		var acc Option[T]
		at := place{node: &r.base, part: part}
		err := r.push(t, part, func(chunk []T) error { return reduceChunk(&at, chunk, &acc, f) })
		return acc, err
	})
	if err != nil {
		return zero, err
	}
	var acc Option[T]
	at := place{node: &r.base, part: -1}
	for _, p := range partials {
		if p.OK {
			if err := reduceChunk(&at, []T{p.Value}, &acc, f); err != nil {
				return zero, err
			}
		}
	}
	if !acc.OK {
		return zero, ErrEmpty
	}
	return acc.Value, nil
}

func reduceChunk[T any](at *place, chunk []T, acc *Option[T], f func(T, T) T) (err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	if len(chunk) > 0 && !acc.OK {
		acc.Value, acc.OK = chunk[0], true
		i = 1
	}
	for ; i < len(chunk); i++ {
		acc.Value = f(acc.Value, chunk[i])
	}
	at.seen += int64(len(chunk))
	return nil
}

// Fold returns zero and all records combined by f. zero enters once for each partition and once
// more at the end: N+1 times over N partitions.
//
// Order, Cost and Errors: as Reduce; zero itself without partitions.
func (r *RDD[T]) Fold(ctx context.Context, zero T, f func(T, T) T) (T, error) {
	if f == nil {
		var none T
		return none, &BuildError{Op: "fold", Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	return aggregate(ctx, r, "fold", zero, f, f)
}

// Aggregate returns zero with all records added by seq and the partitions' results joined by comb,
// both of which may change their first argument.
//
// Order and Cost: as Reduce. zero enters, as a deep copy, once for each partition and once more at
// the end.
// Errors: a panic of a function is a *UserError naming the RDD and the partition.
func Aggregate[T, U any](ctx context.Context, r *RDD[T], zero U, seq func(U, T) U, comb func(U, U) U) (U, error) {
	if seq == nil || comb == nil {
		var none U
		return none, &BuildError{Op: "aggregate", Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	return aggregate(ctx, r, "aggregate", zero, seq, comb)
}

func aggregate[T, U any](ctx context.Context, r *RDD[T], name string, zero U, seq func(U, T) U, comb func(U, U) U) (U, error) {
	fresh := freshZero(zero)
	partials, err := everywhere(ctx, r.subject(), name, func(t *task, part int) (U, error) {
		acc := fresh()
		at := place{node: &r.base, part: part}
		err := r.push(t, part, func(chunk []T) error { return foldChunk(&at, chunk, &acc, seq) })
		return acc, err
	})
	acc := fresh()
	if err != nil {
		return acc, err
	}
	at := place{node: &r.base, part: -1}
	err = foldChunk(&at, partials, &acc, comb)
	return acc, err
}

func foldChunk[T, U any](at *place, chunk []T, acc *U, f func(U, T) U) (err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	sum := *acc
	for ; i < len(chunk); i++ {
		sum = f(sum, chunk[i])
	}
	*acc = sum
	at.seen += int64(len(chunk))
	return nil
}

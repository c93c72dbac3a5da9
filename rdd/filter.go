package rdd

// Filter returns the RDD of the records for which pred is true, in order.
//
// Shape: same partitions, possibly empty ones; the partitioner is kept.
// Cost: one call of pred a record, fused with the operators around it.
// Errors: a panic of pred is a *UserError naming this call, the partition and the record.
// Source: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, table "Transformations".
func (r *RDD[T]) Filter(pred func(T) bool) *RDD[T] {
	if pred == nil {
		return broken[T](r.ctx, "filter", ErrNilFunction)
	}
	return pipe(r, "filter", func(at *place, _ *task, out sink[T]) (sink[T], func() error) {
		return func(in []T) error {
			// The chunk is ours until we return, so the records that pass move up inside it.
			n, err := filterChunk(at, in, pred)
			at.seen += int64(len(in))
			if err != nil || n == 0 {
				return done(out, in[:n], err)
			}
			return out(in[:n])
		}, nil
	}).keep(r.partitioner)
}

func filterChunk[T any](at *place, in []T, pred func(T) bool) (n int, err error) {
	i, kept := 0, 0 // only written in the loop, for the recover
	defer func() {
		if v := recover(); v != nil {
			n, err = kept, at.panicked(i, v)
		}
	}()
	passed := 0
	for j := range in {
		i, kept = j, passed
		// Moved whether it passes or not: a step that is always taken costs less than a branch that
		// is often foreseen wrong.
		x := in[j]
		in[passed] = x
		step := 0
		if pred(x) {
			step = 1
		}
		passed += step
	}
	return passed, nil
}

package rdd

// FilterMap returns the RDD of y for every x for which f returns (y, true), in order.
//
// Shape: at most one record out for each record in; same partitions; no partitioner.
// Cost: one call of f a record, fused with the operators around it.
// Errors: a panic of f is a *UserError naming this call, the partition and the record.
func FilterMap[T, U any](r *RDD[T], f func(T) (U, bool)) *RDD[U] {
	if f == nil {
		return broken[U](r.ctx, "filterMap", ErrNilFunction)
	}
	return pipe(r, "filterMap", func(at *place, _ *task, out sink[U]) (sink[T], func() error) {
		var buf []U
		return func(in []T) error {
			buf = room(buf, len(in))
			n, err := filterMapChunk(at, in, buf, f)
			at.seen += int64(len(in))
			if err != nil || n == 0 {
				return done(out, buf[:n], err)
			}
			return out(buf[:n])
		}, nil
	})
}

func filterMapChunk[T, U any](at *place, in []T, out []U, f func(T) (U, bool)) (n int, err error) {
	i, kept := 0, 0 // only written in the loop, for the recover
	defer func() {
		if v := recover(); v != nil {
			n, err = kept, at.panicked(i, v)
		}
	}()
	passed := 0
	for j := range in {
		i, kept = j, passed
		y, ok := f(in[j])
		out[passed] = y // there is room: no more pass than came
		if ok {
			passed++
		}
	}
	return passed, nil
}

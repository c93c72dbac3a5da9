package rdd

// MapChunks returns the RDD of the records that f appends to out for every chunk of its input,
// in order. It is the form for tight loops: f sees some hundreds of records at once, so the cost of the
// call is shared among them.
//
// Shape: any number of records out; same partitions; no partitioner. How a partition is cut into
// chunks is not promised, so f must treat records one by one; it is not called for an empty chunk.
// f owns in and out until it returns: it may change them, must not keep them, and must return
// out with its records behind what was there.
// Cost: one call a chunk.
// Errors: what f returns or panics with, as a *UserError naming this call, the partition and the
// first record of the chunk.
func MapChunks[T, U any](r *RDD[T], f func(in []T, out []U) ([]U, error)) *RDD[U] {
	if f == nil {
		return broken[U](r.ctx, "mapChunks", ErrNilFunction)
	}
	return pipe(r, "mapChunks", func(at *place, _ *task, out sink[U]) (sink[T], func() error) {
		var buf []U
		return func(in []T) error {
			if buf == nil {
				buf = make([]U, 0, len(in))
			}
			size := int64(len(in))
			filled, err := wholeChunk(at, in, buf[:0], f)
			at.seen += size
			if err != nil || len(filled) == 0 {
				return err
			}
			buf = filled
			return out(filled)
		}, nil
	})
}

func wholeChunk[T, U any](at *place, in []T, out []U, f func([]T, []U) ([]U, error)) (_ []U, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(0, v)
		}
	}()
	if out, err = f(in, out); err != nil {
		return nil, at.failed(0, err)
	}
	return out, nil
}

package rdd

// Map returns the RDD of f(x) for every x, in order.
//
// Shape: one record out for each record in; same partitions; no partitioner, even where keys stay
// the same (MapValues keeps it).
// Cost: one call of f a record, fused with the operators around it.
// Errors: a panic of f is a *UserError naming this call, the partition and the record.
// Source: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, table "Transformations".
func Map[T, U any](r *RDD[T], f func(T) U) *RDD[U] {
	if f == nil {
		return broken[U](r.ctx, "map", ErrNilFunction)
	}
	return pipe(r, "map", func(at *place, _ *task, out sink[U]) (sink[T], func() error) {
		var buf []U
		return func(in []T) error {
			buf = room(buf, len(in))
			if n, err := mapChunk(at, in, buf, f); err != nil {
				return done(out, buf[:n], err)
			}
			at.seen += int64(len(in))
			return out(buf)
		}, nil
	})
}

func mapChunk[T, U any](at *place, in []T, out []U, f func(T) U) (n int, err error) {
	i, of := 0, 0 // the record that f has, in two parts; only written in the loop, for the recover
	defer func() {
		if v := recover(); v != nil {
			n, err = i+of, at.panicked(i+of, v)
		}
	}()
	out = out[:len(in)]
	j := 0
	// What counts the records lies in memory while f is called, and one record would wait for the count of the one before: so by fours.
	for ; j+4 <= len(in); j += 4 {
		from, to := (*[4]T)(in[j:]), (*[4]U)(out[j:])
		i, of = j, 0
		to[0] = f(from[0])
		of = 1
		to[1] = f(from[1])
		of = 2
		to[2] = f(from[2])
		of = 3
		to[3] = f(from[3])
	}
	for of = 0; j < len(in); j++ {
		i = j
		out[j] = f(in[j])
	}
	return len(in), nil
}

// TryMap returns the RDD of f(x) for every x, in order; an error that f returns fails the task.
//
// Shape: as Map.
// Errors: what f returns, as the Err of a *UserError naming this call, the partition and the record.
func TryMap[T, U any](r *RDD[T], f func(T) (U, error)) *RDD[U] {
	if f == nil {
		return broken[U](r.ctx, "tryMap", ErrNilFunction)
	}
	return pipe(r, "tryMap", func(at *place, _ *task, out sink[U]) (sink[T], func() error) {
		var buf []U
		return func(in []T) error {
			buf = room(buf, len(in))
			if n, err := tryMapChunk(at, in, buf, f); err != nil {
				return done(out, buf[:n], err)
			}
			at.seen += int64(len(in))
			return out(buf)
		}, nil
	})
}

func tryMapChunk[T, U any](at *place, in []T, out []U, f func(T) (U, error)) (n int, err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			n, err = i, at.panicked(i, v)
		}
	}()
	out = out[:len(in)]
	for j := range in {
		i = j
		var failure error
		if out[j], failure = f(in[j]); failure != nil {
			return j, at.failed(j, failure)
		}
	}
	return len(in), nil
}

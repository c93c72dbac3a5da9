package rdd

// FlatMap returns the RDD of the records of f(x) for every x, in order. strings.Fields is such
// an f.
//
// Shape: any number of records out for one in; same partitions; no partitioner.
// Cost: one call of f a record and whatever f allocates; FlatMapAppend allocates nothing.
// Errors: a panic of f is a *UserError naming this call, the partition and the record.
// Source: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, table "Transformations".
func FlatMap[T, U any](r *RDD[T], f func(T) []U) *RDD[U] {
	if f == nil {
		return broken[U](r.ctx, "flatMap", ErrNilFunction)
	}
	return flatMap(r, "flatMap", func(x T, out []U) []U { return append(out, f(x)...) })
}

// FlatMapAppend returns the RDD of the records that f appends to out for every x, in order. f
// must return out with the records of x behind what was there, as append does.
//
// Shape: any number of records out for one in; same partitions; no partitioner.
// Cost: one call of f a record; the output slice is used again for every chunk.
// Errors: a panic of f, and an f that returns less than it was given, are a *UserError naming this
// call, the partition and the record.
func FlatMapAppend[T, U any](r *RDD[T], f func(x T, out []U) []U) *RDD[U] {
	if f == nil {
		return broken[U](r.ctx, "flatMap", ErrNilFunction)
	}
	return flatMap(r, "flatMap", f)
}

func flatMap[T, U any](r *RDD[T], op string, f func(T, []U) []U) *RDD[U] {
	return pipe(r, op, func(at *place, _ *task, out sink[U]) (sink[T], func() error) {
		var buf []U
		return func(in []T) error {
			if buf == nil {
				buf = make([]U, 0, min(2*len(in), chunkSize)+chunkSize/8) // full at a chunk, with room for the last record's
			}
			for from := 0; from < len(in); {
				next, filled, err := flatMapChunk(at, in, from, buf[:0], f)
				if err != nil {
					return err
				}
				from, buf = next, filled
				if len(buf) > 0 {
					if err := out(buf); err != nil {
						return err
					}
				}
				if cap(buf) > 64*chunkSize {
					buf = nil // one record made very many: do not hold on to their room
				}
			}
			at.seen += int64(len(in))
			return nil
		}, nil
	})
}

// flatMapChunk applies f from record i on until out holds a chunk, and returns the next record.
func flatMapChunk[T, U any](at *place, in []T, from int, out []U, f func(T, []U) []U) (next int, _ []U, err error) {
	i := from
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	before := len(out)
	for j := from; j < len(in); j++ {
		i = j
		out = f(in[j], out)
		if len(out) < before {
			return j, out, at.failed(j, errShrunk)
		}
		if before = len(out); before >= chunkSize {
			return j + 1, out, nil
		}
	}
	return len(in), out, nil
}

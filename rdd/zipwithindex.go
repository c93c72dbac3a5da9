package rdd

import "context"

// ZipWithIndex returns every record with its number, counted from 0 in partition order.
//
// Shape: as Map; the record is the key of the pair; no partitioner.
// Cost: with more than one partition one job, at once, that counts all partitions but the last:
// what r is made of is computed twice unless it is kept. ZipWithUniqueID runs no job.
// Errors: what the counting job returns.
func ZipWithIndex[T any](ctx context.Context, r *RDD[T]) (*RDD[Pair[T, int64]], error) {
	n, err := r.NumPartitions()
	if err != nil {
		return nil, err
	}
	starts := make([]int64, n)
	if n > 1 {
		err := runJob(ctx, r.subject(), "zipWithIndex", allParts(n-1), func(t *task, part int) (int64, error) {
			var size int64
			err := r.push(t, part, func(chunk []T) error {
				size += int64(len(chunk))
				return nil
			})
			return size, err
		}, func(i int, size int64) error {
			starts[i+1] = size
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for i := 1; i < n; i++ {
		starts[i] += starts[i-1]
	}
	return numbered(r, "zipWithIndex", func(part int) (first, step int64, err error) {
		return starts[part], 1, nil
	}), nil
}

// numbered returns every record with the next number of its partition's arithmetic sequence.
func numbered[T any](r *RDD[T], op string, sequence func(part int) (first, step int64, err error)) *RDD[Pair[T, int64]] {
	return pipe(r, op, func(at *place, _ *task, out sink[Pair[T, int64]]) (sink[T], func() error) {
		var buf []Pair[T, int64]
		next, step, err := sequence(at.part)
		return func(in []T) error {
			if err != nil {
				return err
			}
			buf = room(buf, len(in))
			for i, x := range in {
				buf[i] = Pair[T, int64]{Key: x, Value: next}
				next += step
			}
			return out(buf)
		}, nil
	})
}

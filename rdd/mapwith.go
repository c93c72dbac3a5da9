package rdd

import "context"

// MapWith returns the RDD of f(x) for every x, in order, where f is made by setup once a partition. setup sees the
// task's context: it is the place to read broadcasts, take the handle of an accumulator and open what the
// function needs.
//
// Shape: as Map; setup is called for an empty partition as well.
// Cost: as Map.
// Errors: an error or a panic of setup is a *UserError naming this call and the partition; of f, as Map.
func MapWith[T, U any](r *RDD[T], setup func(ctx context.Context, part int) (func(T) U, error)) *RDD[U] {
	if setup == nil {
		return broken[U](r.ctx, "mapWith", ErrNilFunction)
	}
	return pipe(r, "mapWith", func(at *place, t *task, out sink[U]) (sink[T], func() error) {
		f, err := setUp(at, t, setup, func(f func(T) U) bool { return f != nil })
		var buf []U
		return func(in []T) error {
			if err != nil {
				return err
			}
			buf = room(buf, len(in))
			if n, err := mapChunk(at, in, buf, f); err != nil {
				return done(out, buf[:n], err)
			}
			at.seen += int64(len(in))
			return out(buf)
		}, func() error { return err }
	})
}

// FilterWith returns the RDD of the records for which pred is true, in order, where pred is made by setup once a
// partition, as for MapWith.
//
// Shape: as Filter: the partitioner is kept.
// Errors: as MapWith.
func FilterWith[T any](r *RDD[T], setup func(ctx context.Context, part int) (func(T) bool, error)) *RDD[T] {
	if setup == nil {
		return broken[T](r.ctx, "filterWith", ErrNilFunction)
	}
	return pipe(r, "filterWith", func(at *place, t *task, out sink[T]) (sink[T], func() error) {
		pred, err := setUp(at, t, setup, func(f func(T) bool) bool { return f != nil })
		return func(in []T) error {
			if err != nil {
				return err
			}
			n, err := filterChunk(at, in, pred)
			at.seen += int64(len(in))
			if err != nil || n == 0 {
				return done(out, in[:n], err)
			}
			return out(in[:n])
		}, func() error { return err }
	}).keep(r.partitioner)
}

// FlatMapWith returns the RDD of the records that f appends for every x, in order, where f is made by setup once
// a partition, as for MapWith. f must return out with its records behind what was there.
//
// Shape: as FlatMapAppend.
// Errors: as MapWith; an f that returns less than it was given fails the task.
func FlatMapWith[T, U any](r *RDD[T], setup func(ctx context.Context, part int) (func(x T, out []U) []U, error)) *RDD[U] {
	if setup == nil {
		return broken[U](r.ctx, "flatMapWith", ErrNilFunction)
	}
	return pipe(r, "flatMapWith", func(at *place, t *task, out sink[U]) (sink[T], func() error) {
		f, err := setUp(at, t, setup, func(f func(T, []U) []U) bool { return f != nil })
		var buf []U
		return func(in []T) error {
			for from := 0; err == nil && from < len(in); {
				next, filled, err := flatMapChunk(at, in, from, buf[:0], f)
				if err != nil {
					return err
				}
				if from, buf = next, filled; len(buf) > 0 {
					if err := out(buf); err != nil {
						return err
					}
				}
				if cap(buf) > 64*chunkSize {
					buf = nil // one record made very many: do not hold on to their room
				}
			}
			at.seen += int64(len(in))
			return err
		}, func() error { return err }
	})
}

// setUp calls a set-up function and checks what it made.
func setUp[F any](at *place, t *task, setup func(context.Context, int) (F, error), usable func(F) bool) (f F, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	if f, err = setup(t.ctx, at.part); err != nil {
		return f, at.failed(-1, err)
	}
	if !usable(f) {
		return f, at.failed(-1, ErrNilFunction)
	}
	return f, nil
}

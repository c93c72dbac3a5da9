package rdd

import (
	"context"
	"iter"
)

// Foreach calls f for every record, for its side effects.
//
// Order: within a partition the records' order; partitions run at the same time.
// Cost: one task a partition.
// Errors: a panic of f is a *UserError naming the RDD, the partition and the record. A task that
// is tried again calls f again: effects happen at least once.
func (r *RDD[T]) Foreach(ctx context.Context, f func(T)) error {
	if f == nil {
		return &BuildError{Op: "foreach", Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	_, err := everywhere(ctx, r.subject(), "foreach", func(t *task, part int) (struct{}, error) {
		at := place{node: &r.base, part: part}
		return struct{}{}, r.push(t, part, func(chunk []T) error { return eachOf(&at, chunk, f) })
	})
	return err
}

func eachOf[T any](at *place, chunk []T, f func(T)) (err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	for ; i < len(chunk); i++ {
		f(chunk[i])
	}
	at.seen += int64(len(chunk))
	return nil
}

// ForeachPartition calls f once for each partition, an empty one as well, with its records. The
// context is the task's: it ends when the job is cancelled, and refuses actions.
//
// Cost: one task a partition.
// Errors: what f returns or panics with, as a *UserError naming the RDD and the partition; it is
// tried again like any failed task.
func (r *RDD[T]) ForeachPartition(ctx context.Context, f func(ctx context.Context, part int, rows iter.Seq[T]) error) error {
	if f == nil {
		return &BuildError{Op: "foreachPartition", Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	_, err := everywhere(ctx, r.subject(), "foreachPartition", func(t *task, part int) (struct{}, error) {
		at := place{node: &r.base, part: part}
		rows, inErr := r.seq(t, part)
		err := onPartition(&at, t.ctx, part, rows, f)
		if *inErr != nil {
			err = *inErr // what cut the records short is the cause of what f made of it
		}
		return struct{}{}, err
	})
	return err
}

func onPartition[T any](at *place, ctx context.Context, part int, rows iter.Seq[T], f func(context.Context, int, iter.Seq[T]) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	if err := f(ctx, part, rows); err != nil {
		return at.failed(-1, err)
	}
	return nil
}

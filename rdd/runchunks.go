package rdd

import "context"

// RunChunks runs f once for each partition, an empty one as well, with its records in chunks, and returns the
// results by partition. It is RunJob for functions that take many records at once, such as a writer.
//
// Shape: f is called in a task and sees a context that refuses actions; TaskFrom tells it which attempt it is. Of
// several attempts at a partition the result of one counts, the first that succeeds. op is what the job is called.
// Cost: one task a partition.
// Errors: what f returns or panics with is a *UserError naming the RDD and the partition.
func RunChunks[T, R any](ctx context.Context, r *RDD[T], op string, f func(ctx context.Context, part int, rows Rows[T]) (R, error)) ([]R, error) {
	if f == nil {
		return nil, &BuildError{Op: op, Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	return everywhere(ctx, r.subject(), op, func(t *task, part int) (R, error) {
		var cut error // what ended the records too early; it is the cause of what f made of them
		rows := Rows[T]{push: func(out sink[T]) error {
			var taken error
			err := r.push(t, part, func(chunk []T) error {
				taken = out(chunk)
				return taken
			})
			if err != nil && taken == nil {
				cut = err
			}
			return err
		}}
		at := place{node: &r.base, part: part}
		result, err := onChunks(&at, t.ctx, rows, f)
		if cut != nil {
			err = cut
		}
		return result, err
	})
}

func onChunks[T, R any](at *place, ctx context.Context, rows Rows[T], f func(context.Context, int, Rows[T]) (R, error)) (result R, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	if result, err = f(ctx, at.part, rows); err != nil {
		err = at.failed(-1, err)
	}
	return result, err
}

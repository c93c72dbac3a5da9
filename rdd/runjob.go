package rdd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
)

// RunJob runs f over the records of the given partitions and hands each result to done with its
// position in parts, in any order, one at a time. It is what the other actions are made of.
//
// Shape: parts may repeat and reorder; f is called in a task, may stop reading early, and sees a
// context that refuses actions; done is called on the caller's side, once for each position.
// Cost: one task for each entry of parts; done must be quick.
// Errors: an index outside of r's partitions is ErrArgument, before any task; what f returns or
// panics with is a *UserError naming the RDD and the partition.
func RunJob[T, R any](ctx context.Context, r *RDD[T], parts []int, f func(ctx context.Context, part int, rows iter.Seq[T]) (R, error), done func(i int, result R) error) error {
	if f == nil || done == nil {
		return &BuildError{Op: "runJob", Site: r.ctx.callSite(), Err: ErrNilFunction}
	}
	return runJob(ctx, r.subject(), "runJob", append([]int(nil), parts...), func(t *task, part int) (R, error) {
		at := place{node: &r.base, part: part}
		rows, inErr := r.seq(t, part)
		var result R
		err := onPartition(&at, t.ctx, part, rows, func(ctx context.Context, part int, rows iter.Seq[T]) (err error) {
			result, err = f(ctx, part, rows)
			return err
		})
		return result, errors.Join(*inErr, err)
	}, func(i int, result R) error {
		// The runner hands over results on a goroutine that it needs for all other jobs.
		err := errGoexit
		var wg sync.WaitGroup
		wg.Go(func() { err = takeResult(i, result, done) })
		wg.Wait()
		return err
	})
}

// errGoexit is the fault of a function that ended its goroutine.
var errGoexit = errors.New("the function ended its goroutine")

// takeResult calls the program's done.
func takeResult[R any](i int, result R, done func(i int, result R) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: fmt.Sprint(v)}
		}
	}()
	return done(i, result)
}

package rdd

import (
	"context"
	"errors"
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// A subject is what a job runs on: an RDD without the type of its records. Jobs are made of it, so that
// their code is compiled once for each type of result and not for every pair of types.
type subject struct {
	*base
	ctx *Context
}

func (r *RDD[T]) subject() subject { return subject{&r.base, r.ctx} }

// runJob runs f over partitions of r and hands each result to done with its position in parts, in
// any order, one at a time.
func runJob[R any](ctx context.Context, r subject, name string, parts []int, f func(t *task, part int) (R, error), done func(i int, result R) error) error {
	return runRows(ctx, r, name, parts, func(t *task, part int) (*rowBlock[R], error) {
		result, err := f(t, part)
		return &rowBlock[R]{rows: []R{result}}, err
	}, func(i int, rows []R) error { return done(i, rows[0]) })
}

// runRows is runJob for results that are rows.
func runRows[R any](ctx context.Context, r subject, name string, parts []int, f func(t *task, part int) (*rowBlock[R], error), done func(i int, rows []R) error) error {
	return r.run(ctx, name, parts, new(rowCodec[R]),
		func(t *task, part int) (lineage.Block, error) { return f(t, part) },
		func(i int, b lineage.Block) error { return done(i, b.(*rowBlock[R]).rows) })
}

// run runs f over partitions of r and hands each result to done.
func (r subject) run(ctx context.Context, name string, parts []int, codec lineage.Codec, f func(t *task, part int) (lineage.Block, error), done func(i int, b lineage.Block) error) error {
	if r.err != nil {
		return r.err
	}
	n, err := r.NumPartitions()
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p < 0 || p >= n {
			return fmt.Errorf("%s on %s: %w: partition %d of %d", name, r.String(), ErrArgument, p, n)
		}
	}
	return r.ctx.run(ctx, lineage.Job{
		Name: name, Final: r.base, Parts: parts, Codec: codec, Done: done,
		Run: func(ctx context.Context, env lineage.Env, part int) (lineage.Block, error) {
			var b lineage.Block
			err := runTask(ctx, env, r.home, func(t *task) (err error) {
				b, err = f(t, part)
				return err
			})
			return b, err
		},
	})
}

// allParts is every partition of n, in order.
func allParts(n int) []int {
	parts := make([]int, n)
	for i := range parts {
		parts[i] = i
	}
	return parts
}

// everywhere runs f over all partitions and returns the results in partition order.
func everywhere[R any](ctx context.Context, r subject, name string, f func(t *task, part int) (R, error)) ([]R, error) {
	n, err := r.NumPartitions()
	if err != nil {
		return nil, err
	}
	out := make([]R, n)
	err = runJob(ctx, r, name, allParts(n), f, func(i int, result R) error {
		out[i] = result
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// some pushes the records of a partition into out until it returns errStop, which is no fault.
func (n *node[T]) some(t *task, part int, out sink[T]) error {
	if err := n.push(t, part, out); !errors.Is(err, errStop) {
		return err
	}
	return nil
}

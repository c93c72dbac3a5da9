package rdd

import (
	"context"
	"fmt"
	"math"

	"github.com/leat-io/leat/lineage"
)

// TreeAggregate is Aggregate that joins the partitions' results in depth steps, all but the last
// of them in tasks, so that the caller does not have to take in the results of very many partitions.
//
// Order: each partition in its order; a step joins results in the order of their partitions, but
// not neighbours with neighbours: comb must be commutative too.
// Cost: one job, with a shuffle for each step but the last. With N partitions a step leaves about
// N^(1/depth) times fewer; a step that would hardly make fewer is left out, so few partitions need
// no shuffle. zero enters any number of times: it must be neutral.
// Errors: a depth below 1 is ErrArgument; a panic of a function is a *UserError.
// Source: the number of steps is that of Spark's treeAggregate.
func TreeAggregate[T, U any](ctx context.Context, r *RDD[T], zero U, seq func(U, T) U, comb func(U, U) U, depth int) (U, error) {
	return treeAggregate(ctx, r, "treeAggregate", zero, seq, comb, depth)
}

func treeAggregate[T, U any](ctx context.Context, r *RDD[T], name string, zero U, seq func(U, T) U, comb func(U, U) U, depth int) (U, error) {
	var none U
	switch {
	case seq == nil || comb == nil:
		return none, &BuildError{Op: name, Site: r.ctx.callSite(), Err: ErrNilFunction}
	case depth < 1:
		return none, fmt.Errorf("%s on %s: %w: depth %d", name, r.String(), ErrArgument, depth)
	}
	n, err := r.NumPartitions()
	if err != nil {
		return none, err
	}
	fresh := freshZero(zero)
	if n == 0 {
		return fresh(), nil
	}
	level := foldedPartitions(r, name, fresh, seq)
	scale := max(int(math.Ceil(math.Pow(float64(n), 1/float64(depth)))), 2)
	for n > scale+(n+scale-1)/scale {
		n /= scale
		level = joinedPartitions(level, name, n, fresh, comb)
	}
	partials, err := everywhere(ctx, level.subject(), name, func(t *task, part int) (Option[U], error) {
		var result Option[U]
		err := level.push(t, part, func(chunk []U) error {
			result = Option[U]{Value: chunk[0], OK: true}
			return nil
		})
		return result, err
	})
	if err != nil {
		return none, err
	}
	acc := fresh()
	at := place{node: &r.base, part: -1}
	for _, p := range partials {
		if p.OK {
			if err := foldChunk(&at, []U{p.Value}, &acc, comb); err != nil {
				return none, err
			}
		}
	}
	return acc, nil
}

// foldedPartitions returns one record for each partition: zero with its records added.
func foldedPartitions[T, U any](r *RDD[T], name string, fresh func() U, seq func(U, T) U) *RDD[U] {
	child := newNode[U](r.ctx, name, lineage.OneToOne(r.Node()))
	child.count = r.NumPartitions
	child.compute = func(t *task, part int, out sink[U]) error {
		acc := fresh()
		at := place{node: &child.base, part: part}
		if err := r.push(t, part, func(chunk []T) error { return foldChunk(&at, chunk, &acc, seq) }); err != nil {
			return err
		}
		return out([]U{acc})
	}
	return child
}

// joinedPartitions returns one record for each of n partitions: the results of the partitions
// with that index modulo n, joined.
func joinedPartitions[U any](r *RDD[U], name string, n int, fresh func() U, comb func(U, U) U) *RDD[U] {
	child := newNode[U](r.ctx, name)
	child.count = fixed(n)
	dep := dealt(&child.base, r.node, n, func(part int, _ int64) int { return part % n })
	child.setDeps([]lineage.Dep{dep})
	child.compute = func(t *task, part int, out sink[U]) error {
		acc := fresh()
		at := place{node: &child.base, part: part}
		if err := fetchRows(t, dep.Shuffle, part, r.clone, func(chunk []U) error { return foldChunk(&at, chunk, &acc, comb) }); err != nil {
			return err
		}
		return out([]U{acc})
	}
	return child
}

package rdd

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// CoalesceShuffled returns the records of r, which reads shuffles, in fewer partitions of at most target bytes,
// where those of r turn out to be smaller: it runs the map stages, looks at what they wrote and puts
// neighbouring partitions together. A target of 0 is CoalesceTarget over the default parallelism. Keys stay
// together; a stream's state, whose number of partitions must not change, must not be treated so.
//
// Shape: partitions of r without rows may be left out; no partitioner. Where r does not read shuffles only, or of
// different numbers of partitions, or would not get fewer, it is r itself.
// Cost: the map stages run at once; they need not run again for the result, whose tasks are fewer.
// Errors: what the map stages return.
// Source: Apache Spark, "SQL Performance Tuning", section "Coalescing Post Shuffle Partitions".
func CoalesceShuffled[T any](ctx context.Context, r *RDD[T], target int64) (*RDD[T], error) {
	if r.err != nil {
		return nil, r.err
	}
	if target < 0 {
		return nil, fmt.Errorf("coalesceShuffled of %s: %w: target of %d bytes", r, ErrArgument, target)
	}
	parts, err := r.NumPartitions()
	if err != nil {
		return nil, err
	}
	deps := r.Deps()
	for _, d := range deps {
		if d.Shuffle == nil || d.Shuffle.NumReducers != parts {
			return r, nil
		}
	}
	sizes := make([]int64, parts)
	var total int64
	for _, d := range deps {
		written, err := r.subject().sizes(ctx, d.Shuffle)
		if err != nil {
			return nil, err
		}
		for i, n := range reducerSizes(written, parts) {
			sizes[i] += n
			total += n
		}
	}
	if target == 0 {
		target = CoalesceTarget(total, r.ctx.Parallelism())
	}
	groups := PackPartitions(sizes, target)
	if len(deps) == 0 || len(groups) >= parts {
		return r, nil
	}
	return grouped(r, groups), nil
}

// grouped returns the RDD whose partition i is the partitions of groups[i], one behind the other.
func grouped[T any](r *RDD[T], groups []PartitionRange) *RDD[T] {
	child := newNode[T](r.ctx, "coalesceShuffled")
	child.count = fixed(len(groups))
	child.setDeps([]lineage.Dep{{Parent: r.Node(), Narrow: func(part int) []int {
		var parents []int
		for i := groups[part].From; i < groups[part].To; i++ {
			parents = append(parents, i)
		}
		return parents
	}}})
	child.compute = func(t *task, part int, out sink[T]) error {
		for i := groups[part].From; i < groups[part].To; i++ {
			if err := r.push(t, i, out); err != nil {
				return err
			}
		}
		return nil
	}
	return child
}

package rdd

import (
	"context"
	"errors"
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// errNoSizes is why sizes are not known.
var errNoSizes = errors.New("the runner brought no sizes")

// MapOutputSizes returns the bytes of every bucket of the shuffle that r reads as its dependency number dep, by map
// partition and reducer, each at most a tenth too large and 0 only for an empty one. It runs the map stage, unless
// all its outputs are there.
//
// Cost: one job for the map tasks that are missing. They need not run again for r.
// Errors: ErrArgument where that dependency is not a shuffle.
func MapOutputSizes[T any](ctx context.Context, r *RDD[T], dep int) ([][]int64, error) {
	if r.err != nil {
		return nil, r.err
	}
	deps := r.Deps()
	if dep < 0 || dep >= len(deps) || deps[dep].Shuffle == nil {
		return nil, fmt.Errorf("mapOutputSizes of %s: %w: dependency %d is no shuffle", r, ErrArgument, dep)
	}
	return r.subject().sizes(ctx, deps[dep].Shuffle)
}

func (r subject) sizes(ctx context.Context, s *lineage.Shuffle) (sizes [][]int64, err error) {
	if s.NumReducers == 0 {
		n, err := s.Parent.NumPartitions()
		return make([][]int64, n), err
	}
	r.touch() // the outputs are for r, though the job is on its parent
	err = r.ctx.run(ctx, lineage.Job{
		Name: "mapOutputSizes", Final: s.Parent, Map: s,
		Sizes: func(all [][]int64) { sizes = all },
	})
	if err != nil {
		return nil, err
	}
	n, err := s.Parent.NumPartitions()
	if err == nil && len(sizes) != n {
		err = fmt.Errorf("mapOutputSizes of shuffle %s: %w", s.ID, errNoSizes)
	}
	return sizes, err
}

// reducerSizes sums the sizes of each reducer over map partitions.
func reducerSizes(sizes [][]int64, reducers int) []int64 {
	sums := make([]int64, reducers)
	for _, of := range sizes {
		for reduce := range min(len(of), reducers) {
			sums[reduce] += of[reduce]
		}
	}
	return sums
}

package rdd

import (
	"fmt"
	"math"
)

// RandomSplit returns one RDD for each weight, over which the records are dealt at random in proportion to the weights.
// Every record is in exactly one of them.
//
// Shape: each has r's partitions, its partitioner, and the records in order. The same seed gives the same split. The parts
// are disjoint and complete only if r gives the same records in the same order each time it is computed: persist or sort
// it if it does not.
// Cost: each part computes r anew unless r is persisted; one random number a record.
// Errors: a weight that is negative or not finite, and weights that sum to 0, are ErrArgument, from every part.
func (r *RDD[T]) RandomSplit(weights []float64, seed uint64) []*RDD[T] {
	return randomSplit(r, weights, seed)
}

func randomSplit[T any](r *RDD[T], weights []float64, seed uint64) []*RDD[T] {
	parts := make([]*RDD[T], len(weights))
	edges, err := splitEdges(weights)
	randoms := seeds(seed, r.NumPartitions)
	for i := range parts {
		if err != nil {
			parts[i] = broken[T](r.ctx, "randomSplit", err).preferring(r.err)
			continue
		}
		from, to := edges[i], edges[i+1]
		parts[i] = pipe(r, "randomSplit", func(at *place, _ *task, out sink[T]) (sink[T], func() error) {
			random, err := randoms(at.part)
			if err != nil {
				return func([]T) error { return err }, nil
			}
			return thin(random, from, to, out), nil
		}).keep(r.partitioner)
	}
	return parts
}

// splitEdges returns the bounds in [0, 1] that cut it in proportion to the weights.
func splitEdges(weights []float64) ([]float64, error) {
	edges := []float64{0}
	var sum float64
	for _, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("%w: weight %v", ErrArgument, w)
		}
		sum += w
		edges = append(edges, sum)
	}
	if sum == 0 || math.IsInf(sum, 1) {
		return nil, fmt.Errorf("%w: weights sum to %v", ErrArgument, sum)
	}
	for i := range edges {
		edges[i] /= sum // the last becomes 1, also where the others are rounded
	}
	return edges, nil
}

package rdd

import (
	"context"
	"fmt"
	"math"
	"sort"
)

// Histogram returns how many records lie in each bucket between neighbouring edges: bucket i holds
// what is at least edges[i] and below edges[i+1], the last one its upper edge as well. Other records
// are not counted. A last edge of NaN counts NaN and all that is not below the edge before it.
//
// Cost: one task a partition; a binary search a record.
// Errors: fewer than two edges, and edges that do not ascend, are ErrArgument.
func Histogram[T Number](ctx context.Context, r *RDD[T], edges []float64) ([]int64, error) {
	if len(edges) < 2 {
		return nil, fmt.Errorf("histogram of %s: %w: %d edges", r.String(), ErrArgument, len(edges))
	}
	for i := 1; i < len(edges); i++ {
		if Compare(edges[i-1], edges[i]) >= 0 {
			return nil, fmt.Errorf("histogram of %s: %w: edge %v does not ascend from %v", r.String(), ErrArgument, edges[i], edges[i-1])
		}
	}
	return countBuckets(ctx, r, append([]float64(nil), edges...))
}

// HistogramBuckets returns n buckets of equal width from the smallest record to the largest: their
// n+1 edges, and how many records lie in each. Where all records are equal there is one bucket.
//
// Cost: two jobs: one for the bounds, then as Histogram.
// Errors: an n below 1 is ErrArgument; ErrEmpty without records; NaN and infinite records are
// ErrArgument.
func HistogramBuckets[T Number](ctx context.Context, r *RDD[T], n int) (edges []float64, counts []int64, err error) {
	if n < 1 {
		return nil, nil, fmt.Errorf("histogram of %s: %w: %d buckets", r.String(), ErrArgument, n)
	}
	s, err := stats(ctx, r, "histogram")
	if err != nil {
		return nil, nil, err
	}
	if s.Count == 0 {
		return nil, nil, ErrEmpty
	}
	span := s.Max - s.Min
	switch {
	case math.IsNaN(span) || math.IsInf(s.Min, 0) || math.IsInf(s.Max, 0):
		return nil, nil, fmt.Errorf("histogram of %s: %w: records from %v to %v", r.String(), ErrArgument, s.Min, s.Max)
	case span == 0:
		edges = []float64{s.Min, s.Max}
	default:
		for i := range n {
			edges = append(edges, s.Min+float64(i)*span/float64(n))
		}
		edges = append(edges, s.Max)
	}
	counts, err = countBuckets(ctx, r, edges)
	return edges, counts, err
}

func countBuckets[T Number](ctx context.Context, r *RDD[T], edges []float64) ([]int64, error) {
	counts, err := everywhere(ctx, r.subject(), "histogram", func(t *task, part int) ([]int64, error) {
		counts := make([]int64, len(edges)-1)
		err := r.push(t, part, func(chunk []T) error {
			for _, x := range chunk {
				if i := bucket(edges, float64(x)); i >= 0 {
					counts[i]++
				}
			}
			return nil
		})
		return counts, err
	})
	if err != nil {
		return nil, err
	}
	total := make([]int64, len(edges)-1)
	for _, part := range counts {
		for i, n := range part {
			total[i] += n
		}
	}
	return total, nil
}

// bucket returns the bucket of x, -1 outside of all of them.
func bucket(edges []float64, x float64) int {
	last := len(edges) - 1
	if Compare(x, edges[last]) == 0 {
		return last - 1
	}
	above := sort.Search(len(edges), func(i int) bool { return Compare(edges[i], x) > 0 })
	if above > last {
		return -1
	}
	return above - 1
}

package main

import (
	"context"
	"slices"

	"github.com/leat-io/leat/examples/internal/table"
	"github.com/leat-io/leat/rdd"
)

// topCounts is the first way: an action of package rdd.
func topCounts(ctx context.Context, counts *rdd.RDD[table.Count], k int) ([]table.Count, error) {
	return rdd.TopFunc(ctx, counts, k, func(a, b table.Count) int { return table.Compare(b, a) })
}

// boundedTop is the second way: each partition keeps its k best counts, sorted, and two such lists make
// one. That is exact because a word's count is whole: all of it lies in one partition.
func boundedTop(ctx context.Context, counts *rdd.RDD[table.Count], k int) ([]table.Count, error) {
	insert := func(best []table.Count, c table.Count) []table.Count {
		if len(best) == k {
			if table.Compare(best[k-1], c) <= 0 {
				return best // most words end here
			}
			best = best[:k-1]
		}
		at, _ := slices.BinarySearchFunc(best, c, table.Compare)
		return slices.Insert(best, at, c)
	}
	return rdd.Aggregate(ctx, counts, []table.Count{}, insert, func(a, b []table.Count) []table.Count {
		for _, c := range b {
			a = insert(a, c)
		}
		return a
	})
}

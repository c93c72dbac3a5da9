package rdd

import "slices"

// A Located record is known to be at hand on some hosts.
type Located[T any] struct {
	Row   T
	Hosts []string
}

// MakeRDD returns the RDD of the rows, each a partition of its own that prefers the row's hosts.
//
// Shape: one partition and one record a row, in order. The rows are copied, as Parallelize does.
// Errors: none; hosts that the runner does not know are no preference.
func MakeRDD[T any](c *Context, rows []Located[T]) *RDD[T] {
	own := make([]T, len(rows))
	hosts := make([][]string, len(rows))
	for i, row := range rows {
		own[i], hosts[i] = row.Row, slices.Clone(row.Hosts)
	}
	r := renamed("makeRDD", Parallelize(c, own, max(1, len(own))))
	r.count = fixed(len(own)) // none without rows
	r.near = func(part int) []string { return hosts[part] }
	return r
}

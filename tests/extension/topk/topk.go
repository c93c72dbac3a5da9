// Package topk is an operator on streams that is added from outside of leat: one folder, and no change elsewhere.
//
// [By] gives the largest records of every batch. It is declared with [dstream.Operator], which gives it a name of its
// own in errors and pages, and names the place where By was called.
//
//	lines := ssc.SocketText("localhost:9999")
//	longest := topk.By(lines, 3, func(a, b string) int { return len(a) - len(b) })
//	dstream.Print(longest, os.Stdout, 3)
//
// Guarantees: as those of dstream.Operator. Any goroutine may declare; the comparison runs in tasks and must be pure.
// Not here: the largest of a window, which is By of dstream.Window.
//
// Source: package dstream, Operator.
package topk

import (
	"fmt"
	"iter"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// By returns, for each batch, its n largest records, the largest first.
//
// Shape: at most n records, one partition; absent where the parent is.
// Order: of equal records, the one of the earlier partition comes first.
// Cost: n records of each partition are moved.
// Errors: Start reports a nil compare; n below 1 fails the first batch with dstream.ErrArgument.
func By[T any](s *dstream.DStream[T], n int, compare func(a, b T) int) *dstream.DStream[T] {
	if compare == nil {
		return dstream.Operator[T, T](s, "topK", nil)
	}
	return dstream.Operator(s, "topK", func(r *rdd.RDD[T], _ dstream.Time) (*rdd.RDD[T], error) {
		if n < 1 {
			return nil, fmt.Errorf("%w: the largest %d", dstream.ErrArgument, n)
		}
		largest := func(in iter.Seq[T]) iter.Seq[T] { return slices.Values(best(in, n, compare)) }
		return rdd.MapPartitions(rdd.MapPartitions(r, largest).Coalesce(1), largest), nil
	})
}

// best keeps the n largest, sorted.
func best[T any](in iter.Seq[T], n int, compare func(a, b T) int) []T {
	var top []T
	for x := range in {
		at, _ := slices.BinarySearchFunc(top, x, func(have, x T) int {
			if c := compare(x, have); c != 0 {
				return c
			}
			return -1 // behind its equals
		})
		if at == n {
			continue
		}
		top = slices.Insert(top, at, x)
		top = top[:min(len(top), n)]
	}
	return top
}

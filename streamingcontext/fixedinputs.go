package streamingcontext

import (
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// Slices declares the stream whose k-th batch holds batches[k-1], for tests. It can make any batch again.
//
// Shape: parts partitions, sliced as by rdd.Parallelize; an RDD without records past the last batch; absent for
// a batch that is nil.
// Errors: Start reports parts below 1.
func Slices[T any](ssc *Context, batches [][]T, parts int) *dstream.DStream[T] {
	return dstream.SliceStream(ssc.graph, batches, parts)
}

// Constant declares the stream that has the same RDD in every batch.
//
// Errors: Start reports a nil r.
func Constant[T any](ssc *Context, r *rdd.RDD[T]) *dstream.DStream[T] {
	return dstream.ConstantStream(ssc.graph, r)
}

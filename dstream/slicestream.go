package dstream

import (
	"fmt"
	"strconv"

	"github.com/leat-io/leat/rdd"
)

// SliceStream returns an input stream of the given batches: batch k of the context is batches[k-1].
// It is what tests and examples are written with.
//
// Shape: parts partitions, sliced as by rdd.Parallelize; absent where the batch is nil, no records behind
// the last one. Each batch that is present reports how many records it has.
// Errors: Start reports parts below 1.
func SliceStream[T any](g *Graph, batches [][]T, parts int) *DStream[T] {
	if parts < 1 {
		return newStream[T](g, "slices", fmt.Errorf("%w: %d partitions", ErrArgument, parts))
	}
	return NewInput(g, "slices", "Slice stream", &sliceInput[T]{graph: g, batches: batches, parts: parts})
}

// sliceInput is the Input of SliceStream.
type sliceInput[T any] struct {
	graph   *Graph
	batches [][]T
	parts   int
}

// batch returns the records of a batch, and whether it is present. The graph's lock is held by whoever
// generates.
func (in *sliceInput[T]) batch(t Time) (rows []T, ok bool) {
	i := int64(t-in.graph.zero)/in.graph.interval - 1
	if i < 0 || i >= int64(len(in.batches)) {
		return nil, true
	}
	return in.batches[i], in.batches[i] != nil
}

func (in *sliceInput[T]) RDD(c *rdd.Context, t Time) (*rdd.RDD[T], error) {
	rows, ok := in.batch(t)
	if !ok {
		return nil, nil
	}
	r := rdd.Parallelize(c, rows, in.parts)
	return r, r.Err()
}

func (in *sliceInput[T]) Report(t Time) (records int64, description string, ok bool) {
	rows, ok := in.batch(t)
	return int64(len(rows)), strconv.Itoa(len(rows)) + " records", ok
}

package dstream

import (
	"fmt"

	"github.com/leat-io/leat/rdd"
)

// ConstantStream returns an input stream that has the same RDD in every batch, as data to join other
// streams with has.
//
// Shape: r's, in every batch; reports no records.
// Errors: Start reports a nil r.
func ConstantStream[T any](g *Graph, r *rdd.RDD[T]) *DStream[T] {
	if r == nil {
		return newStream[T](g, "constant", fmt.Errorf("%w: the RDD is nil", ErrArgument))
	}
	return NewInput(g, "constant", "Constant stream", constantInput[T]{r})
}

// constantInput is the Input of ConstantStream.
type constantInput[T any] struct{ rdd *rdd.RDD[T] }

func (in constantInput[T]) RDD(c *rdd.Context, _ Time) (*rdd.RDD[T], error) {
	return in.rdd.In(c), in.rdd.Err()
}

package dstream

import (
	"fmt"

	"github.com/leat-io/leat/rdd"
)

// Repartition returns the same records, batch by batch, dealt out over n partitions.
//
// Shape: batch for batch as rdd.RDD.Repartition.
// Cost: every record goes through a shuffle.
// Errors: Start reports an n below 1; an absent parent fails the batch with ErrParentAbsent.
func (s *DStream[T]) Repartition(n int) *DStream[T] {
	var err error
	if n < 1 {
		err = fmt.Errorf("%w: %d partitions", ErrArgument, n)
	}
	return always(s, "repartition", err, func(r *rdd.RDD[T]) *rdd.RDD[T] { return r.Repartition(n) })
}

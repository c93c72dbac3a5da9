package rdd

import (
	"context"

	"github.com/leat-io/leat/rdd/keyed"
)

// Number is what Sum, Mean, Stats and Histogram compute with.
type Number = keyed.Number

// Sum returns the sum of all records, 0 without any. Integers wrap around like their type does.
//
// Order and Cost: as Reduce, so that the sum of floats repeats.
func Sum[T Number](ctx context.Context, r *RDD[T]) (T, error) {
	partials, err := everywhere(ctx, r.subject(), "sum", func(t *task, part int) (T, error) {
		var total T
		err := r.push(t, part, func(chunk []T) error {
			sum := total // not Reduce, whose call for each record would cost more than the addition
			for _, x := range chunk {
				sum += x
			}
			total = sum
			return nil
		})
		return total, err
	})
	var total T
	for _, x := range partials {
		total += x
	}
	return total, err
}

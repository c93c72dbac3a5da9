package rdd

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// Sample returns a random part of the records, in order. Without replacement each record is in it with chance fraction, once;
// with replacement it is in it a number of times that has a Poisson distribution of mean fraction.
//
// Shape: about fraction times as many records; same partitions; the partitioner is kept. The same seed gives the same sample
// every time a partition is computed with the same records in the same order.
// Cost: one random number a record, and with replacement one more for each record out. TakeSample returns an exact number.
// Errors: a fraction that is negative, no number, or above 1 (2^31 with replacement) is ErrArgument.
func (r *RDD[T]) Sample(withReplacement bool, fraction float64, seed uint64) *RDD[T] {
	return sample(r, withReplacement, fraction, seed)
}

func sample[T any](r *RDD[T], withReplacement bool, fraction float64, seed uint64) *RDD[T] {
	if err := checkFraction(withReplacement, fraction); err != nil {
		return broken[T](r.ctx, "sample", err).preferring(r.err)
	}
	randoms, clone := seeds(seed, r.NumPartitions), r.clone
	return pipe(r, "sample", func(at *place, t *task, out sink[T]) (sink[T], func() error) {
		random, err := randoms(at.part)
		switch {
		case err != nil:
			return func([]T) error { return err }, nil
		case !withReplacement:
			return thin(random, 0, fraction, out), nil
		}
		times := newPoisson(fraction, random)
		copies := repeater[T]{t: t, clone: clone, out: out}
		return func(in []T) error {
			for _, x := range in {
				if err := copies.add(x, times.next()); err != nil {
					return err
				}
			}
			return copies.flush()
		}, nil
	}).keep(r.partitioner)
}

// checkFraction refuses fractions that mean nothing. The upper bound with replacement keeps counts in an int.
func checkFraction(withReplacement bool, fraction float64) error {
	most := 1.0
	if withReplacement {
		most = math.MaxInt32
	}
	if !(fraction >= 0 && fraction <= most) {
		return fmt.Errorf("%w: fraction %v", ErrArgument, fraction)
	}
	return nil
}

// thin passes on the records whose random number lies in [from, to).
func thin[T any](random *rand.Rand, from, to float64, out sink[T]) sink[T] {
	return func(in []T) error {
		n := 0
		for _, x := range in {
			in[n] = x
			if u := random.Float64(); u >= from && u < to {
				n++
			}
		}
		if n == 0 {
			return nil
		}
		return out(in[:n])
	}
}

// repeater pushes records several times over.
type repeater[T any] struct {
	t     *task
	clone func(T) T
	out   sink[T]
	buf   []T
}

// add pushes x n times, each time a record of its receiver's own.
func (r *repeater[T]) add(x T, n int) error {
	for i := range n {
		if len(r.buf) == chunkSize {
			if err := r.flush(); err != nil {
				return err
			}
			if err := context.Cause(r.t.ctx); err != nil { // one record may be repeated for long
				return err
			}
		}
		y := x
		if r.clone != nil && i < n-1 { // x itself goes last: whoever has it may change it
			y = r.clone(x)
		}
		r.buf = append(r.buf, y)
	}
	return nil
}

func (r *repeater[T]) flush() error {
	if len(r.buf) == 0 {
		return nil
	}
	err := r.out(r.buf)
	r.buf = r.buf[:0]
	return err
}

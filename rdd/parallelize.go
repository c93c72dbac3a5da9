package rdd

import (
	"context"
	"fmt"
	"math"

	"github.com/leat-io/leat/rdd/codec"
)

// Parallelize returns the RDD of the rows in n partitions; partition i holds rows [i*len/n,
// (i+1)*len/n). The rows are copied, deep where they hold references: changes the caller makes
// afterwards are not seen.
//
// Shape: n partitions, some empty when there are fewer rows. c.Parallelism() is a good n.
// Errors: an n below 1 is ErrArgument.
func Parallelize[T any](c *Context, rows []T, n int) *RDD[T] {
	if n < 1 {
		return broken[T](c, "parallelize", fmt.Errorf("%w: %d partitions", ErrArgument, n))
	}
	own := make([]T, len(rows))
	copy(own, rows)
	if clone := codec.CloneFunc[T](); clone != nil {
		for i := range own {
			own[i] = clone(own[i])
		}
	}
	r := newNode[T](c, "parallelize")
	r.count = fixed(n)
	r.compute = func(t *task, part int, out sink[T]) error {
		from, to := slice(len(own), n, part)
		return pushRows(t, own[from:to], r.clone, out)
	}
	r.held = func(part int) []T {
		from, to := slice(len(own), n, part)
		return own[from:to]
	}
	return r
}

// slice returns the bounds of slice i of n over size items.
func slice(size, n, i int) (from, to int) {
	return int(int64(i) * int64(size) / int64(n)), int((int64(i) + 1) * int64(size) / int64(n))
}

// Empty returns the RDD without partitions.
func Empty[T any](c *Context) *RDD[T] {
	r := newNode[T](c, "empty")
	r.count = fixed(0)
	return r
}

// Range returns the integers start, start+step, ... below end (above it for a negative step) in
// n partitions, sliced as by Parallelize.
//
// Shape: n partitions. A step that leads away from end gives no integers.
// Errors: a zero step and an n below 1 are ErrArgument.
func Range(c *Context, start, end, step int64, n int) *RDD[int64] {
	if step == 0 || n < 1 {
		return broken[int64](c, "range", fmt.Errorf("%w: step %d, %d partitions", ErrArgument, step, n))
	}
	size := rangeSize(start, end, step)
	r := newNode[int64](c, "range")
	r.count = fixed(n)
	r.compute = func(t *task, part int, out sink[int64]) error {
		from, to := bigSlice(size, uint64(n), uint64(part))
		buf := make([]int64, min(to-from, chunkSize))
		for from < to {
			if err := context.Cause(t.ctx); err != nil {
				return err
			}
			k := int(min(to-from, chunkSize))
			x := start + int64(from)*step // wraps like the exact value does: the result fits
			for i := range k {
				buf[i] = x
				x += step
			}
			from += uint64(k)
			if err := out(buf[:k]); err != nil {
				return err
			}
		}
		return nil
	}
	return r
}

// rangeSize is the number of integers of a range, which may exceed what an int64 holds.
func rangeSize(start, end, step int64) uint64 {
	var distance, stride uint64
	if step > 0 {
		if end <= start {
			return 0
		}
		distance, stride = uint64(end)-uint64(start), uint64(step)
	} else {
		if end >= start {
			return 0
		}
		distance, stride = uint64(start)-uint64(end), uint64(-(step+1))+1
	}
	return (distance-1)/stride + 1
}

// bigSlice is slice for sizes up to 2^64-1: the bounds are floor(i*size/n) without overflow.
func bigSlice(size, n, i uint64) (from, to uint64) {
	if size <= math.MaxUint32 {
		return i * size / n, (i + 1) * size / n
	}
	whole, rest := size/n, size%n
	return whole*i + rest*i/n, whole*(i+1) + rest*(i+1)/n
}

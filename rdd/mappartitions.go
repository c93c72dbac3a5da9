package rdd

import (
	"errors"
	"iter"

	"github.com/leat-io/leat/lineage"
)

// PreservePartitioning is the promise that a function of MapPartitions leaves every key where it
// was: the result keeps the parent's partitioner. It is not checked; a broken promise gives wrong
// joins.
func PreservePartitioning() PartitionOption { return func(o *partitionOptions) { o.preserve = true } }

// A PartitionOption is an option of MapPartitions and MapPartitionsWithIndex.
type PartitionOption func(*partitionOptions)

type partitionOptions struct{ preserve bool }

// MapPartitions returns the RDD of the records of f(records) for each partition.
//
// Shape: f is called once a partition, for an empty one as well, and may stop reading early; same
// partitions; no partitioner unless PreservePartitioning is given.
// Cost: a call through the sequence per record on each side; MapChunks has none.
// Errors: a panic of f is a *UserError naming this call and the partition.
// Source: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, section "Spark Programming
// Interface".
func MapPartitions[T, U any](r *RDD[T], f func(iter.Seq[T]) iter.Seq[U], opts ...PartitionOption) *RDD[U] {
	if f == nil {
		return broken[U](r.ctx, "mapPartitions", ErrNilFunction)
	}
	return mapPartitions(r, "mapPartitions", func(_ int, in iter.Seq[T]) iter.Seq[U] { return f(in) }, opts)
}

// MapPartitionsWithIndex is MapPartitions with the partition's index given to f.
func MapPartitionsWithIndex[T, U any](r *RDD[T], f func(part int, in iter.Seq[T]) iter.Seq[U], opts ...PartitionOption) *RDD[U] {
	if f == nil {
		return broken[U](r.ctx, "mapPartitionsWithIndex", ErrNilFunction)
	}
	return mapPartitions(r, "mapPartitionsWithIndex", f, opts)
}

func mapPartitions[T, U any](r *RDD[T], op string, f func(int, iter.Seq[T]) iter.Seq[U], opts []PartitionOption) *RDD[U] {
	var o partitionOptions
	for _, opt := range opts {
		opt(&o)
	}
	child := newNode[U](r.ctx, op, lineage.OneToOne(r.Node()))
	child.inherit(r.err)
	child.count = r.NumPartitions
	if o.preserve {
		child.partitioner = r.partitioner
	}
	child.compute = func(t *task, part int, out sink[U]) error {
		at := &place{node: &child.base, part: part}
		in, inErr := r.seq(t, part)
		err := drain(at, f, part, in, out)
		if *inErr != nil {
			return *inErr // what stopped the input is the cause of whatever f made of the short sequence
		}
		return err
	}
	return child
}

// drain pushes the records of f's sequence in chunks.
func drain[T, U any](at *place, f func(int, iter.Seq[T]) iter.Seq[U], part int, in iter.Seq[T], out sink[U]) (err error) {
	pushing := false // a panic is the sink's then, not f's
	defer func() {
		if pushing {
			return
		}
		if v := recover(); v != nil {
			err = at.panicked(-1, v)
		}
	}()
	var buf []U
	result := f(part, in)
	if result == nil {
		return nil
	}
	flush := func() error {
		pushing = true
		err := out(buf)
		pushing = false
		buf = buf[:0]
		return err
	}
	for u := range result {
		if buf = append(buf, u); len(buf) == chunkSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(buf) == 0 {
		return nil
	}
	return flush()
}

// errStop ends a push early without fault: the reader has seen enough.
var errStop = errors.New("stop")

// seq returns the records of a partition as a sequence that may be ranged over once, and where the
// error that cut it short will be found.
func (n *node[T]) seq(t *task, part int) (iter.Seq[T], *error) {
	failure := new(error)
	return func(yield func(T) bool) {
		err := n.push(t, part, func(chunk []T) error {
			for _, x := range chunk {
				if !yield(x) {
					return errStop
				}
			}
			return nil
		})
		if !errors.Is(err, errStop) {
			*failure = err
		}
	}, failure
}

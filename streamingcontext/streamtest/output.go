package streamtest

import (
	"context"
	"slices"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// An Output is what a stream held, batch by batch.
type Output[T any] struct {
	kit *Kit

	mu    sync.Mutex // guards the fields below
	times []dstream.Time
	rows  map[dstream.Time][]T
}

// Collect declares an output that keeps what s holds in every batch.
//
// Order: of partitions, and of the records within them.
func Collect[T any](k *Kit, s *dstream.DStream[T]) *Output[T] {
	o := &Output[T]{kit: k, rows: map[dstream.Time][]T{}}
	dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[T], t dstream.Time) error {
		rows, err := r.Collect(ctx)
		if err != nil {
			return err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if i, found := slices.BinarySearch(o.times, t); !found {
			o.times = slices.Insert(o.times, i, t)
		}
		o.rows[t] = rows
		return nil
	})
	return o
}

// Batch returns the records of batch n, counted from 1: nil where the stream had no RDD, empty where it
// had one without records.
func (o *Output[T]) Batch(n int) []T { return o.At(o.kit.Time(n)) }

// At returns the records of the batch at t, as Batch.
func (o *Output[T]) At(t dstream.Time) []T {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rows[t]
}

// Batches returns the records of all batches in which the stream had an RDD, in their order.
func (o *Output[T]) Batches() [][]T {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all [][]T
	for _, t := range o.times {
		all = append(all, o.rows[t])
	}
	return all
}

// Times returns the times of those batches.
func (o *Output[T]) Times() []dstream.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.times)
}

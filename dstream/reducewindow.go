package dstream

import (
	"fmt"
	"time"

	"github.com/leat-io/leat/rdd"
)

// ReduceByKeyAndWindow returns, every slide, one pair per key seen in the last window, its values
// combined with reduce, which must be associative and commutative. With inverse, which undoes reduce:
// inverse(reduce(x, y), x) = y, the window is the one before, minus what left it, plus what entered
// it; inverse may be nil. It must be exact: sums of floating-point numbers are not, and what rounding leaves in a window stays in
// it for good, so such sums are for windows without inverse, or for integers.
//
// reduce may change its first argument, not its second: the window keeps copies. Copies share what only unexported fields refer to
// (codec.CloneFunc), so that for a type of that kind, as *big.Int, reduce makes a new value.
//
// Shape: at most one pair per key, over the context's parallelism unless the options say otherwise; never
// absent. With inverse a key stays, with whatever reduce and inverse leave it (0 for sums), until
// a filter (KeepWindowed) does not pass it and no batch of the window holds it.
// Time: window and slide are multiples of s's slide, slide is s's where it is 0; batch t sees
// (t-window, t].
// Order: without inverse, reduce gets what is older first, so it need not be commutative where a batch has one value
// of a key.
// Cost: each batch is reduced once. With inverse, only the batches that enter and leave are read, and the
// state of all live keys is held. Without, a slide combines the keys of a window about four times, however
// many batches the window has (see panes), each time in one pass over what lies in order. What is held lies in memory.
// Errors: Start reports a *DurationError naming this call's file and line, and a key type without value identity,
// keyed.ErrBadKeyType; with inverse the context needs a checkpoint directory, ErrCheckpointDirNotSet. A panic of a
// function fails the batch with a *rdd.UserError.
// Source: Zaharia et al., "Discretized Streams", SOSP 2013, section "D-Stream API".
func ReduceByKeyAndWindow[K comparable, V any](s *DStream[rdd.Pair[K, V]], reduce, inverse func(V, V) V, window, slide time.Duration, opts ...WindowOption) *DStream[rdd.Pair[K, V]] {
	o := windowOptionsOf(opts)
	if inverse != nil {
		return inverseWindow(s, false, reduce, inverse, window, slide, o)
	}
	return paneWindow("reduceByKeyAndWindow", s, reduce, window, slide, o)
}

// A WindowOption is an option of the windowed operations by key.
type WindowOption func(*windowOptions)

type windowOptions struct {
	byKey []ByKeyOption
	keep  any // func(rdd.Pair[K, V]) bool, of the operation's types
	// forgets makes a window with inverse forget keys that no batch of it holds, as keep does, and show all others.
	forgets bool
}

// Partitioned gives the options of the operation's shuffles: rdd.NumPartitions, rdd.PartitionedBy.
func Partitioned(opts ...ByKeyOption) WindowOption {
	return func(o *windowOptions) { o.byKey = append(o.byKey, opts...) }
}

// KeepWindowed lets a window show only the pairs for which keep is true. A window with inverse then forgets
// a key that no batch of the window holds any more. The types must be those of the stream.
func KeepWindowed[K comparable, V any](keep func(rdd.Pair[K, V]) bool) WindowOption {
	return func(o *windowOptions) { o.keep = keep }
}

// filterOf returns the filter of the options, nil if there is none.
func filterOf[K comparable, V any](o windowOptions) (func(rdd.Pair[K, V]) bool, error) {
	keep, ok := o.keep.(func(rdd.Pair[K, V]) bool)
	if o.keep != nil && !ok {
		return nil, fmt.Errorf("%w: the filter is a %T", ErrArgument, o.keep)
	}
	return keep, nil
}

func windowOptionsOf(opts []WindowOption) windowOptions {
	var o windowOptions
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// ReduceByWindow returns, every slide, all records of the last window combined with reduce; see
// ReduceByKeyAndWindow for inverse, which may be nil.
//
// Shape: one partition with at most one record: none while the window is empty; with inverse, none
// before the first record, then always one.
// Time, Cost and Errors: as ReduceByKeyAndWindow.
func ReduceByWindow[T any](s *DStream[T], reduce, inverse func(T, T) T, window, slide time.Duration) *DStream[T] {
	keyed := derive(s, "keyAll", nil, func(r *rdd.RDD[T]) *rdd.RDD[rdd.Pair[int64, T]] { return keyAll(r) })
	windowed := ReduceByKeyAndWindow(keyed, reduce, inverse, window, slide, Partitioned(rdd.NumPartitions(1)))
	return derive(windowed, "reduceByWindow", nil, func(r *rdd.RDD[rdd.Pair[int64, T]]) *rdd.RDD[T] { return rdd.Values(r) })
}

// CountByWindow returns, every slide, how many records the last window has.
//
// Shape: one partition with one record, none before the first record of the stream; 0 afterwards
// where the window is empty.
// Time, Cost and Errors: as ReduceByKeyAndWindow with inverse: the context needs a checkpoint directory.
func CountByWindow[T any](s *DStream[T], window, slide time.Duration) *DStream[int64] {
	counted := derive(s, "countPartitions", nil, func(r *rdd.RDD[T]) *rdd.RDD[int64] {
		return rdd.CountPartitions(r).Filter(func(n int64) bool { return n > 0 })
	})
	return ReduceByWindow(counted, sum, difference, window, slide)
}

// CountByValueAndWindow returns, every slide, how often each record occurs in the last window.
//
// Shape: one pair per record of the window, over the context's parallelism unless the options say
// otherwise.
// Time, Cost and Errors: as ReduceByKeyAndWindow with inverse: the context needs a checkpoint directory.
func CountByValueAndWindow[T comparable](s *DStream[T], window, slide time.Duration, opts ...ByKeyOption) *DStream[rdd.Pair[T, int64]] {
	counted := CountByValue(s, opts...)
	o := windowOptionsOf([]WindowOption{Partitioned(opts...)})
	o.forgets = true // what a batch of the window holds is counted, so there is nothing else that should not be shown
	return inverseWindow(counted, true, sum, difference, window, slide, o)
}

func sum(a, b int64) int64        { return a + b }
func difference(a, b int64) int64 { return a - b }

// GroupByKeyAndWindow returns, every slide, one pair per key seen in the last window with all its
// values, oldest batch first.
//
// Shape: one pair per key, over the context's parallelism unless the options say otherwise; never absent.
// Time: as Window.
// Cost: each batch is grouped once; a slide reads all values of the window.
// Errors: Start reports a *DurationError naming this call's file and line.
func GroupByKeyAndWindow[K comparable, V any](s *DStream[rdd.Pair[K, V]], window, slide time.Duration, opts ...ByKeyOption) *DStream[rdd.Pair[K, []V]] {
	grouped := GroupByKey(s, opts...)
	windowed := Window(grouped, window, slide)
	opts = alike(s.graph, opts)
	return derive(windowed, "groupByKeyAndWindow", nil, func(r *rdd.RDD[rdd.Pair[K, []V]]) *rdd.RDD[rdd.Pair[K, []V]] {
		return rdd.MapValues(rdd.GroupByKey(r, opts...), func(groups [][]V) []V {
			var all []V
			for _, g := range groups {
				all = append(all, g...)
			}
			return all
		})
	})
}

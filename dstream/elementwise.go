package dstream

import (
	"iter"

	"github.com/leat-io/leat/rdd"
)

// derive declares a stream whose RDD at t is f of the parent's, absent where the parent is.
func derive[T, U any](s *DStream[T], op string, err error, f func(*rdd.RDD[T]) *rdd.RDD[U]) *DStream[U] {
	child := newStream[U](s.graph, op, err, s.node)
	child.compute = func(t Time) (*rdd.RDD[U], error) {
		r, err := s.rddAt(t)
		if r == nil || err != nil {
			return nil, err
		}
		out := f(r.In(child.rddsAt(t)))
		return out, out.Err()
	}
	return child
}

// nonNil returns ErrNilFunction if ok is false.
func nonNil(ok bool) error {
	if !ok {
		return ErrNilFunction
	}
	return nil
}

// Map returns the stream of f(x) for every record x.
//
// Shape: batch for batch as rdd.Map; absent where the parent is.
// Errors: Start reports a nil f; a panic of f fails the batch with a *rdd.UserError.
// Source: Zaharia et al., "Discretized Streams", SOSP 2013, section "D-Stream API".
func Map[T, U any](s *DStream[T], f func(T) U) *DStream[U] {
	return derive(s, "map", nonNil(f != nil), func(r *rdd.RDD[T]) *rdd.RDD[U] { return rdd.Map(r, f) })
}

// FlatMap returns the stream of the records of f(x) for every record x. strings.Fields is such
// an f.
//
// Shape: batch for batch as rdd.FlatMap; absent where the parent is.
// Errors: as Map.
func FlatMap[T, U any](s *DStream[T], f func(T) []U) *DStream[U] {
	return derive(s, "flatMap", nonNil(f != nil), func(r *rdd.RDD[T]) *rdd.RDD[U] { return rdd.FlatMap(r, f) })
}

// FlatMapAppend returns the stream of the records that f appends to out for every record x; it
// allocates nothing of its own.
//
// Shape: batch for batch as rdd.FlatMapAppend; absent where the parent is.
// Errors: as Map.
func FlatMapAppend[T, U any](s *DStream[T], f func(x T, out []U) []U) *DStream[U] {
	return derive(s, "flatMap", nonNil(f != nil), func(r *rdd.RDD[T]) *rdd.RDD[U] { return rdd.FlatMapAppend(r, f) })
}

// Filter returns the stream of the records for which pred is true.
//
// Shape: batch for batch as rdd.RDD.Filter; absent where the parent is.
// Errors: as Map.
func (s *DStream[T]) Filter(pred func(T) bool) *DStream[T] {
	return derive(s, "filter", nonNil(pred != nil), func(r *rdd.RDD[T]) *rdd.RDD[T] { return r.Filter(pred) })
}

// MapChunks returns the stream of the records that f appends to out for every chunk of records.
//
// Shape: batch for batch as rdd.MapChunks; absent where the parent is.
// Errors: as Map.
func MapChunks[T, U any](s *DStream[T], f func(in []T, out []U) ([]U, error)) *DStream[U] {
	return derive(s, "mapChunks", nonNil(f != nil), func(r *rdd.RDD[T]) *rdd.RDD[U] { return rdd.MapChunks(r, f) })
}

// MapPartitions returns the stream of the records of f(records) for each partition, empty ones as
// well.
//
// Shape: batch for batch as rdd.MapPartitions; absent where the parent is.
// Errors: as Map.
func MapPartitions[T, U any](s *DStream[T], f func(iter.Seq[T]) iter.Seq[U], opts ...rdd.PartitionOption) *DStream[U] {
	return derive(s, "mapPartitions", nonNil(f != nil), func(r *rdd.RDD[T]) *rdd.RDD[U] {
		return rdd.MapPartitions(r, f, opts...)
	})
}

// Glom returns the stream with one record for each partition: the slice of its records.
//
// Shape: batch for batch as rdd.Glom; absent where the parent is.
func Glom[T any](s *DStream[T]) *DStream[[]T] {
	return derive(s, "glom", nil, func(r *rdd.RDD[T]) *rdd.RDD[[]T] { return rdd.Glom(r) })
}

// MapToPair returns the stream of the pairs f(x) for every record x; f gives key and value.
//
// Shape: batch for batch as rdd.Map; absent where the parent is.
// Errors: as Map.
func MapToPair[T any, K comparable, V any](s *DStream[T], f func(T) (K, V)) *DStream[rdd.Pair[K, V]] {
	return derive(s, "mapToPair", nonNil(f != nil), func(r *rdd.RDD[T]) *rdd.RDD[rdd.Pair[K, V]] {
		return rdd.Map(r, func(x T) rdd.Pair[K, V] {
			k, v := f(x)
			return rdd.Pair[K, V]{Key: k, Value: v}
		})
	})
}

// MapValues returns the stream of (k, f(v)) for every pair (k, v); keys stay where they are.
//
// Shape: batch for batch as rdd.MapValues; absent where the parent is.
// Errors: as Map.
func MapValues[K, V, U any](s *DStream[rdd.Pair[K, V]], f func(V) U) *DStream[rdd.Pair[K, U]] {
	return derive(s, "mapValues", nonNil(f != nil), func(r *rdd.RDD[rdd.Pair[K, V]]) *rdd.RDD[rdd.Pair[K, U]] {
		return rdd.MapValues(r, f)
	})
}

// FlatMapValues returns the stream of (k, u) for every u of f(v) and every pair (k, v).
//
// Shape: batch for batch as rdd.FlatMapValues; absent where the parent is.
// Errors: as Map.
func FlatMapValues[K, V, U any](s *DStream[rdd.Pair[K, V]], f func(V) []U) *DStream[rdd.Pair[K, U]] {
	return derive(s, "flatMapValues", nonNil(f != nil), func(r *rdd.RDD[rdd.Pair[K, V]]) *rdd.RDD[rdd.Pair[K, U]] {
		return rdd.FlatMapValues(r, f)
	})
}

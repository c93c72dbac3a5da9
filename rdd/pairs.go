package rdd

import "github.com/leat-io/leat/rdd/keyed"

// A Pair is a key with a value.
type Pair[K, V any] = keyed.Pair[K, V]

// An Option is a value that may be absent: the outer side of a join, state not yet set. Its fields are Value and OK. Make one as
// Option[T]{Value: v, OK: true} or with keyed.Some; the zero value, which keyed.None returns, is none.
type Option[T any] = keyed.Option[T]

// KeyBy returns (f(x), x) for every record x, in order.
//
// Shape: as Map.
func KeyBy[K comparable, T any](r *RDD[T], f func(T) K) *RDD[Pair[K, T]] {
	if f == nil {
		return broken[Pair[K, T]](r.ctx, "keyBy", ErrNilFunction)
	}
	return renamed("keyBy", Map(r, func(x T) Pair[K, T] { return Pair[K, T]{Key: f(x), Value: x} }))
}

// Keys returns the keys of the pairs, in order, duplicates and all; the partitioner is dropped.
func Keys[K, V any](r *RDD[Pair[K, V]]) *RDD[K] {
	return renamed("keys", Map(r, func(p Pair[K, V]) K { return p.Key }))
}

// Values returns the values of the pairs, in order; the partitioner is dropped.
func Values[K, V any](r *RDD[Pair[K, V]]) *RDD[V] {
	return renamed("values", Map(r, func(p Pair[K, V]) V { return p.Value }))
}

// MapValues returns (k, f(v)) for every pair (k, v), in order.
//
// Shape: as Map, but the partitioner is kept: keys stay where they are.
// Errors: a panic of f is a *UserError naming this call, the partition and the record.
func MapValues[K, V, U any](r *RDD[Pair[K, V]], f func(V) U) *RDD[Pair[K, U]] {
	if f == nil {
		return broken[Pair[K, U]](r.ctx, "mapValues", ErrNilFunction)
	}
	return renamed("mapValues", Map(r, func(p Pair[K, V]) Pair[K, U] {
		return Pair[K, U]{Key: p.Key, Value: f(p.Value)}
	})).keep(r.partitioner)
}

// FlatMapValues returns (k, u) for every u of f(v) and every pair (k, v), in order.
//
// Shape: as FlatMap, but the partitioner is kept: keys stay where they are.
// Errors: a panic of f is a *UserError naming this call, the partition and the record.
func FlatMapValues[K, V, U any](r *RDD[Pair[K, V]], f func(V) []U) *RDD[Pair[K, U]] {
	if f == nil {
		return broken[Pair[K, U]](r.ctx, "flatMapValues", ErrNilFunction)
	}
	return flatMap(r, "flatMapValues", func(p Pair[K, V], out []Pair[K, U]) []Pair[K, U] {
		for _, u := range f(p.Value) {
			out = append(out, Pair[K, U]{Key: p.Key, Value: u})
		}
		return out
	}).keep(r.partitioner)
}

// renamed gives a node that was just made by another operator its own name.
func renamed[T any](op string, r *RDD[T]) *RDD[T] {
	r.op = op
	return r
}

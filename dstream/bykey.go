package dstream

import "github.com/leat-io/leat/rdd"

// ByKeyOption is an option of the operations by key: rdd.NumPartitions, rdd.PartitionedBy,
// rdd.WithoutMapSideCombine. Without a partitioner, results are hash partitioned over the context's
// parallelism, the same for every batch, so that batches lie alike.
type ByKeyOption = rdd.KeyOption

// alike adds what all batches share in front of the options, which win: the partition count, and how large tables become.
func alike(g *Graph, opts []ByKeyOption) []ByKeyOption {
	return append([]ByKeyOption{rdd.NumPartitions(g.rdds.Parallelism()), rdd.SizedBy(new(rdd.TableSize))}, opts...)
}

// GroupByKey returns, for each batch, one pair per key with all its values of that batch.
//
// Shape: batch for batch as rdd.GroupByKey, over the context's parallelism unless the options say
// otherwise; absent where the parent is.
func GroupByKey[K comparable, V any](s *DStream[rdd.Pair[K, V]], opts ...ByKeyOption) *DStream[rdd.Pair[K, []V]] {
	opts = alike(s.graph, opts)
	return derive(s, "groupByKey", nil, func(r *rdd.RDD[rdd.Pair[K, V]]) *rdd.RDD[rdd.Pair[K, []V]] {
		return rdd.GroupByKey(r, opts...)
	})
}

// ReduceByKey returns, for each batch, one pair per key with its values of that batch combined by
// f, which must be associative and commutative.
//
// Shape: batch for batch as rdd.ReduceByKey, over the context's parallelism unless the options say
// otherwise; absent where the parent is.
// Errors: Start reports a nil f; a panic of f fails the batch with a *rdd.UserError.
func ReduceByKey[K comparable, V any](s *DStream[rdd.Pair[K, V]], f func(V, V) V, opts ...ByKeyOption) *DStream[rdd.Pair[K, V]] {
	opts = alike(s.graph, opts)
	return derive(s, "reduceByKey", nonNil(f != nil), func(r *rdd.RDD[rdd.Pair[K, V]]) *rdd.RDD[rdd.Pair[K, V]] {
		return rdd.ReduceByKey(r, f, opts...)
	})
}

// CombineByKey returns, for each batch, one pair per key with its values of that batch folded into a
// combiner; see rdd.CombineByKey for the functions.
//
// Shape and Errors: as ReduceByKey.
func CombineByKey[K comparable, V, C any](s *DStream[rdd.Pair[K, V]], create func(V) C, mergeValue func(C, V) C, mergeCombiners func(C, C) C, opts ...ByKeyOption) *DStream[rdd.Pair[K, C]] {
	opts = alike(s.graph, opts)
	ok := create != nil && mergeValue != nil && mergeCombiners != nil
	return derive(s, "combineByKey", nonNil(ok), func(r *rdd.RDD[rdd.Pair[K, V]]) *rdd.RDD[rdd.Pair[K, C]] {
		return rdd.CombineByKey(r, create, mergeValue, mergeCombiners, opts...)
	})
}

// CountByValue returns, for each batch, how often each record occurs in it.
//
// Shape: one pair per distinct record; batch for batch as rdd.Counts, over the context's parallelism
// unless the options say otherwise; absent where the parent is.
func CountByValue[T comparable](s *DStream[T], opts ...ByKeyOption) *DStream[rdd.Pair[T, int64]] {
	opts = alike(s.graph, opts)
	return derive(s, "countByValue", nil, func(r *rdd.RDD[T]) *rdd.RDD[rdd.Pair[T, int64]] {
		return rdd.Counts(r, opts...)
	})
}

// Count returns one record for each batch: how many records it has, 0 for an empty one.
//
// Shape: one partition.
// Errors: an absent parent fails the batch with ErrParentAbsent.
func Count[T any](s *DStream[T]) *DStream[int64] {
	return always(s, "count", nil, func(r *rdd.RDD[T]) *rdd.RDD[int64] {
		partial := rdd.CountPartitions(r)
		zero := rdd.Parallelize(r.Context(), []int64{0}, 1)
		sum := rdd.ReduceByKey(keyAll(zero.Union(partial)), func(a, b int64) int64 { return a + b }, rdd.NumPartitions(1))
		return rdd.Values(sum)
	})
}

// Reduce returns, for each batch, all its records combined by f; nothing for an empty batch.
//
// Shape: at most one record, one partition; absent where the parent is.
// Errors: Start reports a nil f; a panic of f fails the batch with a *rdd.UserError.
func Reduce[T any](s *DStream[T], f func(T, T) T) *DStream[T] {
	return derive(s, "reduce", nonNil(f != nil), func(r *rdd.RDD[T]) *rdd.RDD[T] {
		return rdd.Values(rdd.ReduceByKey(keyAll(r), f, rdd.NumPartitions(1)))
	})
}

// keyAll gives every record the same key.
func keyAll[T any](r *rdd.RDD[T]) *rdd.RDD[rdd.Pair[int64, T]] {
	return rdd.KeyBy(r, func(T) int64 { return 0 })
}

// always is derive for operations that need an RDD in every batch.
func always[T, U any](s *DStream[T], op string, err error, f func(*rdd.RDD[T]) *rdd.RDD[U]) *DStream[U] {
	child := newStream[U](s.graph, op, err, s.node)
	child.compute = func(t Time) (*rdd.RDD[U], error) {
		r, err := presentAt(s, t)
		if err != nil {
			return nil, err
		}
		out := f(r.In(child.rddsAt(t)))
		return out, out.Err()
	}
	return child
}

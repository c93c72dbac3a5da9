package dstream

import "github.com/leat-io/leat/rdd"

// CoGroup returns, for each batch, every key of either stream with the values each has for it.
//
// Shape: batch for batch as rdd.CoGroup, over the context's parallelism unless the options say otherwise.
// Errors: an absent parent fails the batch with ErrParentAbsent; Start reports ErrDifferentSlides and
// ErrDifferentContexts.
func CoGroup[K comparable, V, W any](a *DStream[rdd.Pair[K, V]], b *DStream[rdd.Pair[K, W]], opts ...ByKeyOption) *DStream[rdd.Pair[K, rdd.CoGrouped[V, W]]] {
	opts = alike(a.graph, opts)
	return transformWith("cogroup", a, b, nil, func(l *rdd.RDD[rdd.Pair[K, V]], r *rdd.RDD[rdd.Pair[K, W]], _ Time) (*rdd.RDD[rdd.Pair[K, rdd.CoGrouped[V, W]]], error) {
		return rdd.CoGroup(l, r, opts...), nil
	})
}

// Join returns, for each batch, (k, (v, w)) for every v and w that the streams have for a key k.
//
// Shape: batch for batch as rdd.Join.
// Errors: as CoGroup.
func Join[K comparable, V, W any](a *DStream[rdd.Pair[K, V]], b *DStream[rdd.Pair[K, W]], opts ...ByKeyOption) *DStream[rdd.Pair[K, rdd.Joined[V, W]]] {
	opts = alike(a.graph, opts)
	return transformWith("join", a, b, nil, func(l *rdd.RDD[rdd.Pair[K, V]], r *rdd.RDD[rdd.Pair[K, W]], _ Time) (*rdd.RDD[rdd.Pair[K, rdd.Joined[V, W]]], error) {
		return rdd.Join(l, r, opts...), nil
	})
}

// LeftOuterJoin returns, for each batch, Join's pairs and one pair for each value whose key only a has.
//
// Shape: batch for batch as rdd.LeftOuterJoin.
// Errors: as CoGroup.
func LeftOuterJoin[K comparable, V, W any](a *DStream[rdd.Pair[K, V]], b *DStream[rdd.Pair[K, W]], opts ...ByKeyOption) *DStream[rdd.Pair[K, rdd.Joined[V, rdd.Option[W]]]] {
	opts = alike(a.graph, opts)
	return transformWith("leftOuterJoin", a, b, nil, func(l *rdd.RDD[rdd.Pair[K, V]], r *rdd.RDD[rdd.Pair[K, W]], _ Time) (*rdd.RDD[rdd.Pair[K, rdd.Joined[V, rdd.Option[W]]]], error) {
		return rdd.LeftOuterJoin(l, r, opts...), nil
	})
}

// RightOuterJoin returns, for each batch, Join's pairs and one pair for each value whose key only b has.
//
// Shape: batch for batch as rdd.RightOuterJoin.
// Errors: as CoGroup.
func RightOuterJoin[K comparable, V, W any](a *DStream[rdd.Pair[K, V]], b *DStream[rdd.Pair[K, W]], opts ...ByKeyOption) *DStream[rdd.Pair[K, rdd.Joined[rdd.Option[V], W]]] {
	opts = alike(a.graph, opts)
	return transformWith("rightOuterJoin", a, b, nil, func(l *rdd.RDD[rdd.Pair[K, V]], r *rdd.RDD[rdd.Pair[K, W]], _ Time) (*rdd.RDD[rdd.Pair[K, rdd.Joined[rdd.Option[V], W]]], error) {
		return rdd.RightOuterJoin(l, r, opts...), nil
	})
}

// FullOuterJoin returns, for each batch, Join's pairs and one pair for each value whose key only one stream has.
//
// Shape: batch for batch as rdd.FullOuterJoin.
// Errors: as CoGroup.
func FullOuterJoin[K comparable, V, W any](a *DStream[rdd.Pair[K, V]], b *DStream[rdd.Pair[K, W]], opts ...ByKeyOption) *DStream[rdd.Pair[K, rdd.Joined[rdd.Option[V], rdd.Option[W]]]] {
	opts = alike(a.graph, opts)
	return transformWith("fullOuterJoin", a, b, nil, func(l *rdd.RDD[rdd.Pair[K, V]], r *rdd.RDD[rdd.Pair[K, W]], _ Time) (*rdd.RDD[rdd.Pair[K, rdd.Joined[rdd.Option[V], rdd.Option[W]]]], error) {
		return rdd.FullOuterJoin(l, r, opts...), nil
	})
}

package rdd

import (
	"fmt"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// Joined is a value of each of two inputs.
type Joined[V, W any] struct {
	Left  V
	Right W
}

// String returns "(left,right)".
func (j Joined[V, W]) String() string { return fmt.Sprintf("(%v,%v)", j.Left, j.Right) }

// Join returns (k, (v, w)) for every v that a has and every w that b has for a key k.
//
// Shape: m times n pairs for a key with m and n values, a's values outermost; partitions and
// partitioner as CoGroup.
// Cost: as CoGroup.
// Errors: a key type without value identity is keyed.ErrBadKeyType.
func Join[K comparable, V, W any](a *RDD[Pair[K, V]], b *RDD[Pair[K, W]], opts ...KeyOption) *RDD[Pair[K, Joined[V, W]]] {
	return crossed("join", CoGroup(a, b, opts...), func(g CoGrouped[V, W]) ([]V, []W) { return g.Left, g.Right })
}

// LeftOuterJoin is Join, with (k, (v, none)) for a key that b does not have.
func LeftOuterJoin[K comparable, V, W any](a *RDD[Pair[K, V]], b *RDD[Pair[K, W]], opts ...KeyOption) *RDD[Pair[K, Joined[V, Option[W]]]] {
	return crossed("leftOuterJoin", CoGroup(a, b, opts...), func(g CoGrouped[V, W]) ([]V, []Option[W]) { return g.Left, optional(g.Right) })
}

// RightOuterJoin is Join, with (k, (none, w)) for a key that a does not have.
func RightOuterJoin[K comparable, V, W any](a *RDD[Pair[K, V]], b *RDD[Pair[K, W]], opts ...KeyOption) *RDD[Pair[K, Joined[Option[V], W]]] {
	return crossed("rightOuterJoin", CoGroup(a, b, opts...), func(g CoGrouped[V, W]) ([]Option[V], []W) { return optional(g.Left), g.Right })
}

// FullOuterJoin is Join, with (k, (v, none)) and (k, (none, w)) for the keys of one input only.
func FullOuterJoin[K comparable, V, W any](a *RDD[Pair[K, V]], b *RDD[Pair[K, W]], opts ...KeyOption) *RDD[Pair[K, Joined[Option[V], Option[W]]]] {
	return crossed("fullOuterJoin", CoGroup(a, b, opts...), func(g CoGrouped[V, W]) ([]Option[V], []Option[W]) {
		return optional(g.Left), optional(g.Right)
	})
}

// crossed returns, for every key, all pairs of a value of each of the sides.
func crossed[K comparable, V, W, L, R any](op string, grouped *RDD[Pair[K, CoGrouped[V, W]]], sides func(CoGrouped[V, W]) ([]L, []R)) *RDD[Pair[K, Joined[L, R]]] {
	cloneL, cloneR := codec.CloneFunc[L](), codec.CloneFunc[R]()
	joined := flatMap(grouped, op, func(g Pair[K, CoGrouped[V, W]], out []Pair[K, Joined[L, R]]) []Pair[K, Joined[L, R]] {
		left, right := sides(g.Value)
		for i, l := range left {
			for j, r := range right {
				row := Joined[L, R]{Left: l, Right: r}
				// A record is its reader's to change, so a value of several records is copied.
				if cloneL != nil && j > 0 {
					row.Left = cloneL(l)
				}
				if cloneR != nil && i > 0 {
					row.Right = cloneR(r)
				}
				out = append(out, Pair[K, Joined[L, R]]{Key: g.Key, Value: row})
			}
		}
		return out
	})
	return joined.keep(grouped.partitioner)
}

// optional wraps the values of an outer side: one absent value where there are none.
func optional[V any](values []V) []Option[V] {
	if len(values) == 0 {
		return []Option[V]{{}}
	}
	out := make([]Option[V], len(values))
	for i, v := range values {
		out[i] = keyed.Some(v)
	}
	return out
}

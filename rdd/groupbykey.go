package rdd

import (
	"context"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/keyed"
)

// GroupByKey returns one pair per key with all its values, duplicates and all.
//
// Shape: one pair per key, keys in the order first seen, values in the order of the map partitions
// and their rows; partitions and partitioner as CombineByKey.
// Cost: every record goes through the shuffle; a partition's values are held in memory, or in scratch files
// where there is none, from which one key's values at a time are read. ReduceByKey sends less where
// the values are only to be combined.
// Errors: a key type without value identity is keyed.ErrBadKeyType.
func GroupByKey[K comparable, V any](r *RDD[Pair[K, V]], opts ...KeyOption) *RDD[Pair[K, []V]] {
	p, h, err := placement[K](r.ctx, keyOptionsOf(opts), &r.base)
	if err != nil {
		return broken[Pair[K, []V]](r.ctx, "groupByKey", err).preferring(r.err)
	}
	return groupByKey(r, p, h)
}

func groupByKey[K comparable, V any](r *RDD[Pair[K, V]], p Partitioner[K], h *keyed.Hasher[K]) *RDD[Pair[K, []V]] {
	child := newNode[Pair[K, []V]](r.ctx, "groupByKey")
	child.inherit(r.err)
	child.partitioner = p
	child.count = fixed(p.NumPartitions())
	in := newKeyedInput(&child.base, 0, r, h, p)
	child.setDeps([]lineage.Dep{in.dep})
	child.compute = func(t *task, part int, out sink[Pair[K, []V]]) error {
		g := newGrouping(t, &place{node: &child.base, part: part}, h)
		defer g.close()
		values, err := gatherGroup(g, in, part)
		if err != nil {
			return err
		}
		return pushGroups(g, out, values.at)
	}
	return child
}

// GroupBy returns one pair per value of f with the records it was returned for.
//
// Shape, Cost and Errors: as KeyBy, then GroupByKey.
func GroupBy[K comparable, T any](r *RDD[T], f func(T) K, opts ...KeyOption) *RDD[Pair[K, []T]] {
	return GroupByKey(KeyBy(r, f), opts...)
}

// placement returns the partitioner an operation by key uses, and the hasher of its keys.
func placement[K comparable](c *Context, o keyOptions, parents ...*base) (Partitioner[K], *keyed.Hasher[K], error) {
	p, err := choosePartitioner[K](c, o, parents...)
	if err != nil {
		return nil, nil, err
	}
	if hashed, ok := p.(*HashPartitioner[K]); ok && hashed.hasher != nil {
		return p, hashed.hasher, nil
	}
	h, err := keyed.HasherFor[K]()
	return p, h, err
}

// keyIndex numbers keys in the order first seen.
type keyIndex[K comparable] = keyed.Table[K, struct{}]

func newKeyIndex[K comparable](h *keyed.Hasher[K]) *keyIndex[K] { return keyed.New[K, struct{}](h, 0) }

// groups are the values of one input, each with the number of its key.
type groups[V any] struct {
	key    []int32
	values []V
}

// addGroup notes the rows of a chunk under the numbers of their keys.
func addGroup[K comparable, V any](at *place, keys *keyIndex[K], side *groups[V], chunk []Pair[K, V]) error {
	if h := keys.Hasher(); h.Dynamic() {
		for i := range chunk {
			if err := h.Check(chunk[i].Key); err != nil {
				return at.failed(i, err)
			}
		}
	}
	from := len(side.key)
	side.key = doubled(side.key, len(chunk))[:from+len(chunk)]
	keyed.Enumerate(keys, chunk, side.key[from:])
	side.values = doubled(side.values, len(chunk))
	for i := range chunk {
		side.values = append(side.values, chunk[i].Value)
	}
	at.seen += int64(len(chunk))
	return nil
}

// arrange returns the values of each of n keys in the order they came, empty where there are
// none. All groups are cut from one slice; none can grow into the next.
func (g *groups[V]) arrange(n int) [][]V {
	ends := make([]int, n+1)
	for _, k := range g.key {
		ends[k+1]++
	}
	for k := range n {
		ends[k+1] += ends[k]
	}
	sorted := make([]V, len(g.values))
	next := append([]int(nil), ends[:n]...)
	for i, k := range g.key {
		sorted[next[k]] = g.values[i]
		next[k]++
	}
	out := make([][]V, n)
	for k := range n {
		out[k] = sorted[ends[k]:ends[k+1]:ends[k+1]]
	}
	return out
}

// pushKeys pushes (key, value(number)) for every key of an index, in order.
func pushKeys[K comparable, U any](t *task, keys *keyIndex[K], out sink[Pair[K, U]], value func(i int) U) error {
	var buf []Pair[K, U]
	for from := 0; from < keys.Len(); from += chunkSize {
		if err := context.Cause(t.ctx); err != nil {
			return err
		}
		buf = buf[:0]
		for i := from; i < min(from+chunkSize, keys.Len()); i++ {
			buf = append(buf, Pair[K, U]{Key: keys.Key(i), Value: value(i)})
		}
		if err := out(buf); err != nil {
			return err
		}
	}
	return nil
}

package dstream

import (
	"fmt"

	"github.com/leat-io/leat/rdd"
)

// Transform returns the stream of what f makes of each batch's RDD. f runs in the driver while the
// batch is generated, once a batch, and may use other RDDs and data that changes; it must run no
// jobs that wait for later batches. Slice refuses to be called from it.
//
// Shape: as f's result.
// Errors: an absent parent is ErrParentAbsent, a nil result ErrNilRDD, and both, like an error of f,
// fail the whole batch.
func Transform[T, U any](s *DStream[T], f func(r *rdd.RDD[T], t Time) (*rdd.RDD[U], error)) *DStream[U] {
	child := newStream[U](s.graph, "transform", nonNil(f != nil), s.node)
	child.compute = func(t Time) (*rdd.RDD[U], error) {
		r, err := presentAt(s, t)
		if err != nil {
			return nil, err
		}
		return made(child.graph, func() (*rdd.RDD[U], error) { return f(r.In(child.rddsAt(t)), t) })
	}
	return child
}

// TransformWith returns the stream of what f makes of the RDDs that two streams of one slide have for a
// batch; f is called as Transform's.
//
// Shape: as f's result.
// Errors: as Transform; Start reports ErrDifferentSlides and ErrDifferentContexts.
func TransformWith[T, U, V any](a *DStream[T], b *DStream[U], f func(r *rdd.RDD[T], other *rdd.RDD[U], t Time) (*rdd.RDD[V], error)) *DStream[V] {
	return transformWith("transformWith", a, b, nonNil(f != nil), f)
}

func transformWith[T, U, V any](op string, a *DStream[T], b *DStream[U], err error, f func(*rdd.RDD[T], *rdd.RDD[U], Time) (*rdd.RDD[V], error)) *DStream[V] {
	if err == nil {
		err = compatible(a.node, b.node)
	}
	child := newStream[V](home(a.node, b.node), op, err, a.node, b.node)
	child.compute = func(t Time) (*rdd.RDD[V], error) {
		r, err := presentAt(a, t)
		if err != nil {
			return nil, err
		}
		other, err := presentAt(b, t)
		if err != nil {
			return nil, err
		}
		c := child.rddsAt(t)
		return made(child.graph, func() (*rdd.RDD[V], error) { return f(r.In(c), other.In(c), t) })
	}
	return child
}

// TransformAll is Transform over the RDDs of any number of streams of one type and slide.
//
// Errors: as TransformWith; Start reports ErrNoParents.
func TransformAll[T, U any](streams []*DStream[T], f func(rdds []*rdd.RDD[T], t Time) (*rdd.RDD[U], error)) *DStream[U] {
	return transformAll("transformAll", streams, nonNil(f != nil), f)
}

func transformAll[T, U any](op string, streams []*DStream[T], err error, f func([]*rdd.RDD[T], Time) (*rdd.RDD[U], error)) *DStream[U] {
	if len(streams) == 0 {
		return newStream[U](orphans(), op, ErrNoParents)
	}
	nodes := make([]*node, len(streams))
	for i, s := range streams {
		nodes[i] = s.node
	}
	if err == nil {
		err = compatible(nodes...)
	}
	child := newStream[U](home(nodes...), op, err, nodes...)
	child.compute = func(t Time) (*rdd.RDD[U], error) {
		c := child.rddsAt(t)
		rdds := make([]*rdd.RDD[T], len(streams))
		for i, s := range streams {
			r, err := presentAt(s, t)
			if err != nil {
				return nil, err
			}
			rdds[i] = r.In(c)
		}
		return made(child.graph, func() (*rdd.RDD[U], error) { return f(rdds, t) })
	}
	return child
}

// Union returns the records of all streams, batch by batch, duplicates and all.
//
// Shape: batch for batch as rdd.UnionAll.
// Errors: an absent parent fails the batch with ErrParentAbsent; Start reports ErrDifferentSlides and
// ErrDifferentContexts.
func (s *DStream[T]) Union(others ...*DStream[T]) *DStream[T] {
	return Union(append([]*DStream[T]{s}, others...)...)
}

// Union returns the records of all streams, batch by batch; see DStream.Union.
func Union[T any](streams ...*DStream[T]) *DStream[T] {
	return transformAll("union", streams, nil, func(rdds []*rdd.RDD[T], _ Time) (*rdd.RDD[T], error) {
		return rdd.UnionAll(rdds[0].Context(), rdds...), nil
	})
}

// compatible reports whether streams can be combined batch by batch.
func compatible(nodes ...*node) error {
	for _, n := range nodes[1:] {
		if n.graph != nodes[0].graph && !n.graph.orphan && !nodes[0].graph.orphan {
			return ErrDifferentContexts
		}
		if n.slide != nodes[0].slide && n.err == nil && nodes[0].err == nil {
			return fmt.Errorf("%w: %d ms and %d ms", ErrDifferentSlides, nodes[0].slide, n.slide)
		}
	}
	return nil
}

// presentAt is rddAt for operations that need an RDD in every batch.
func presentAt[T any](s *DStream[T], t Time) (*rdd.RDD[T], error) {
	r, err := s.rddAt(t)
	if err == nil && r == nil {
		err = fmt.Errorf("%w: %s", ErrParentAbsent, s.op)
	}
	return r, err
}

package rdd

import "github.com/leat-io/leat/lineage"

// pipe returns the RDD whose partition i is the parent's partition i with every chunk passed
// through a stage. start is called once for each task and returns what takes the parent's
// chunks; end, if not nil, is called after the last one. Stages of one chain run fused, as calls
// inside each other, in one task.
func pipe[T, U any](r *RDD[T], op string, start func(at *place, t *task, out sink[U]) (in sink[T], end func() error)) *RDD[U] {
	child := newNode[U](r.ctx, op, lineage.OneToOne(r.Node()))
	child.inherit(r.err)
	child.count = r.NumPartitions
	self, parent := &child.base, r.node
	child.compute = func(t *task, part int, out sink[U]) error {
		in, end := start(&place{node: self, part: part}, t, out)
		if err := parent.push(t, part, in); err != nil || end == nil {
			return err
		}
		return end()
	}
	return child
}

// keep makes a child keep the partitioner of its parent.
func (r *RDD[T]) keep(p AnyPartitioner) *RDD[T] {
	r.partitioner = p
	return r
}

// done pushes what a chunk's records gave before one of them failed, and returns the failure: a reader
// that has enough by then, such as Take, does not meet it.
func done[T any](out sink[T], rows []T, failure error) error {
	if len(rows) > 0 {
		if err := out(rows); err != nil {
			return err
		}
	}
	return failure
}

// room returns a slice of length n, buf's if it is large enough.
func room[T any](buf []T, n int) []T {
	if cap(buf) >= n {
		return buf[:n]
	}
	return make([]T, n, max(n, min(2*cap(buf), chunkSize)))
}

package dstream

import (
	"slices"
	"time"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// paneWindow is ReduceByKeyAndWindow without inverse.
//
// Each batch is reduced by key and put in the order of its keys' hashes, once. Combining two neighbours, and a window out of its two
// parts, is then one pass over both: what is read and written lies in order, and no table that is larger than the caches is looked
// into, however many keys a window has.
func paneWindow[K comparable, V any](op string, s *DStream[rdd.Pair[K, V]], reduce func(V, V) V, window, slide time.Duration, o windowOptions) *DStream[rdd.Pair[K, V]] {
	type pairs = rdd.Pair[K, V]
	type batch = *packedBatch[K, V]
	paned := paned[K, V]{reduce: reduce, clone: codec.CloneFunc[V]()}
	hasher, badKey := keyed.HasherFor[K]()
	opts := alike(s.graph, o.byKey)
	reduced := derive(s, "reduceByKey", nonNil(reduce != nil), func(r *rdd.RDD[pairs]) *rdd.RDD[batch] {
		return packByHash(rdd.ReduceByKey(r, reduce, opts...), hasher)
	})
	w, err := spanOf(reduced.node, window, slide)
	keep, badFilter := filterOf[K, V](o)
	for _, e := range []error{badFilter, badKey} {
		if err == nil {
			err = e
		}
	}
	child := newStream[pairs](s.graph, op, err, reduced.node)
	child.windowOver(w, reduced.node)
	// The parts of windows live longer than the window they are made for, so they have a scope of their own.
	inner := newStream[batch](s.graph, op+" panes", nil, reduced.node)

	width := gcd(w.window, w.slide)
	p := newPanes[batch](int(w.window / width))
	var at *rdd.Context // where the current batch's parts are made
	var made []Time     // the batches that parts were made in and that are not forgotten
	level := rdd.MemoryOnlySer()
	join := func(parts ...*rdd.RDD[batch]) *rdd.RDD[batch] {
		r := paned.join(at, parts)
		r.Persist(level)
		return r
	}
	p.join = func(older, newer *rdd.RDD[batch]) *rdd.RDD[batch] { return join(older, newer) }
	wide := map[int]part[batch]{} // panes of several batches
	p.pane = func(i int) (*rdd.RDD[batch], error) {
		if pane, ok := wide[i]; ok {
			return pane.rdd, nil
		}
		end := s.graph.zero + Time(int64(i+1)*width)
		batches, err := reduced.between(end-Time(width)+Time(reduced.slide), end)
		if err != nil || len(batches) == 0 {
			return nil, err
		}
		if len(batches) == 1 {
			return batches[0], nil
		}
		wide[i] = part[batch]{rdd: join(batches...), own: true}
		return wide[i].rdd, nil
	}
	lastPane := func(t Time) int { return int(int64(t-s.graph.zero)/width) - 1 }

	child.compute = func(t Time) (*rdd.RDD[pairs], error) {
		at, made = inner.rddsAt(t), append(made, t)
		last := lastPane(t)
		parts, err := p.window(last)
		if err != nil {
			return nil, err
		}
		var grown []*rdd.RDD[batch]
		if w.slide < w.window {
			for i := last - int(w.slide/width) + 1; i <= last; i++ {
				g, err := p.grow(i)
				if err != nil {
					return nil, err
				}
				if g != nil {
					grown = append(grown, g)
				}
			}
		}
		c := child.rddsAt(t)
		if len(parts) == 0 {
			return rdd.Empty[pairs](c), nil
		}
		out := paned.show(c, op, parts)
		if keep != nil {
			out = out.Filter(keep)
		}
		if len(grown) == 0 {
			return out, nil
		}
		return alongside(c, out, grown), nil
	}
	child.dropped = func(upTo Time) {
		last := lastPane(upTo) + 1
		p.forget(last)
		for i, pane := range wide {
			if i < last-2*p.size {
				pane.drop()
				delete(wide, i)
			}
		}
		// By now all parts that were made this long ago have been dropped.
		gone := func(t Time) bool { return lastPane(t) < last-2*p.size }
		for _, t := range made {
			if gone(t) {
				s.graph.rdds.Forget(inner.scope(t))
			}
		}
		made = slices.DeleteFunc(made, gone)
	}
	return child
}

// packByHash is packBatch with keys in the order of their hashes.
func packByHash[K comparable, V any](r *rdd.RDD[rdd.Pair[K, V]], h *keyed.Hasher[K]) *rdd.RDD[*packedBatch[K, V]] {
	return rdd.MapPacked(r, "packed", h, func(_ int, rows *keyed.Packed[K, V]) *packedBatch[K, V] {
		return &packedBatch[K, V]{rows: rows.ByHash()}
	})
}

// paned is how a window without inverse combines batches whose keys are in the order of their hashes.
type paned[K comparable, V any] struct {
	reduce func(V, V) V
	clone  func(V) V // nil where assignment copies: reduce may change its first argument
}

// join returns the combination of parts, in their order.
func (w paned[K, V]) join(c *rdd.Context, parts []*rdd.RDD[*packedBatch[K, V]]) *rdd.RDD[*packedBatch[K, V]] {
	type batch = *packedBatch[K, V]
	return rdd.ZipRowsAll(c, "combine", (*rdd.RDD[struct{}])(nil), parts, parts[0].Partitioner(), func(_ int, _ rdd.Rows[struct{}], parts []rdd.Rows[batch], out func([]batch) error) error {
		rows, err := rowsOf(parts)
		if err != nil {
			return err
		}
		return out([]batch{{rows: w.merged(rows)}})
	})
}

// merged returns the combination of neighbours, two and two of about the same length.
func (w paned[K, V]) merged(parts []*keyed.Packed[K, V]) *keyed.Packed[K, V] {
	if len(parts) == 1 {
		return parts[0]
	}
	half := len(parts) / 2
	return keyed.MergeByHash(w.merged(parts[:half]), w.merged(parts[half:]), w.reduce, w.clone)
}

// showStep is how many rows of a window are shown at a time.
const showStep = 512

// show returns the pairs of the window that one or two parts are, with values of their own.
func (w paned[K, V]) show(c *rdd.Context, op string, parts []*rdd.RDD[*packedBatch[K, V]]) *rdd.RDD[rdd.Pair[K, V]] {
	type batch = *packedBatch[K, V]
	return rdd.ZipRowsAll(c, op, (*rdd.RDD[struct{}])(nil), parts, parts[0].Partitioner(), func(_ int, _ rdd.Rows[struct{}], parts []rdd.Rows[batch], out func([]rdd.Pair[K, V]) error) error {
		rows, err := rowsOf(parts)
		if err != nil {
			return err
		}
		if len(rows) == 1 {
			rows = append(rows, nil)
		}
		return keyed.EachMerged(rows[0], rows[1], w.reduce, w.clone, showStep, out)
	})
}

// rowsOf returns the rows of each part, nil where it has none.
func rowsOf[K comparable, V any](parts []rdd.Rows[*packedBatch[K, V]]) ([]*keyed.Packed[K, V], error) {
	rows := make([]*keyed.Packed[K, V], len(parts))
	for i, p := range parts {
		b, err := onlyRecord(p)
		if err != nil {
			return nil, err
		}
		if b != nil {
			rows[i] = b.rows
		}
	}
	return rows, nil
}

// alongside returns r; whoever computes a partition of it computes that of others as well.
func alongside[T, U any](c *rdd.Context, r *rdd.RDD[T], others []*rdd.RDD[U]) *rdd.RDD[T] {
	return rdd.ZipRowsAll(c, "alongside", r, others, r.Partitioner(),
		func(_ int, rows rdd.Rows[T], others []rdd.Rows[U], out func([]T) error) error {
			for _, o := range others {
				if err := o.Each(func([]U) error { return nil }); err != nil {
					return err
				}
			}
			return rows.Each(out)
		})
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

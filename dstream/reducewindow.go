package dstream

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/leat-io/leat/rdd"
)

// ReduceByKeyAndWindow returns, every slide, one pair per key seen in the last window, its values
// combined with reduce, which must be associative and commutative. With inverse, which undoes reduce:
// inverse(reduce(x, y), x) = y, the window is the one before, minus what left it, plus what entered
// it; inverse may be nil. It must be exact: sums of floating-point numbers are not, and what rounding leaves in a window stays in
// it for good, so such sums are for windows without inverse, or for integers.
//
// Shape: at most one pair per key, over the context's parallelism unless the options say otherwise; never
// absent. With inverse a key stays, with whatever reduce and inverse leave it (0 for sums), until
// a filter (KeepWindowed) does not pass it and no batch of the window holds it.
// Time: window and slide are multiples of s's slide, slide is s's where it is 0; batch t sees
// (t-window, t].
// Cost: each batch is reduced once. With inverse, only the batches that enter and leave are read, and the
// state of all live keys is held. Without, a slide combines about four tables of a window's keys, however
// many batches the window has (see panes).
// Errors: Start reports a *DurationError naming this call's file and line; with inverse the context needs a
// checkpoint directory, ErrCheckpointDirNotSet. A panic of a function fails the batch with a
// *rdd.UserError.
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

// paneWindow is ReduceByKeyAndWindow without inverse.
func paneWindow[K comparable, V any](op string, s *DStream[rdd.Pair[K, V]], reduce func(V, V) V, window, slide time.Duration, o windowOptions) *DStream[rdd.Pair[K, V]] {
	type pairs = rdd.Pair[K, V]
	reduced := ReduceByKey(s, reduce, o.byKey...)
	w, err := spanOf(reduced.node, window, slide)
	keep, wrong := filterOf[K, V](o)
	if err == nil {
		err = wrong
	}
	child := newStream[pairs](s.graph, op, err, reduced.node)
	child.windowOver(w, reduced.node)
	// The parts of windows live longer than the window they are made for, so they have a scope of their own.
	inner := newStream[pairs](s.graph, op+" panes", nil, reduced.node)

	width := gcd(w.window, w.slide)
	p := newPanes[pairs](int(w.window / width))
	var at *rdd.Context // where the current batch's parts are made
	var made []Time     // the batches that parts were made in and that are not forgotten
	level := rdd.MemoryOnlySer()
	var sizes [bits.UintSize + 1]rdd.TableSize // of parts, by the bits of how many panes they are of: those have about as many keys
	reducePanes := func(c *rdd.Context, panes int, parts ...*rdd.RDD[pairs]) *rdd.RDD[pairs] {
		all := rdd.UnionAll(c, parts...)
		return rdd.ReduceByKey(all, reduce, rdd.PartitionedBy(all.Partitioner()), rdd.SizedBy(&sizes[bits.Len(uint(panes))]))
	}
	join := func(panes int, parts ...*rdd.RDD[pairs]) *rdd.RDD[pairs] {
		r := reducePanes(at, panes, parts...)
		r.Persist(level)
		return r
	}
	p.join = func(older, newer *rdd.RDD[pairs], panes int) *rdd.RDD[pairs] { return join(panes, older, newer) }
	wide := map[int]part[pairs]{} // panes of several batches
	p.pane = func(i int) (*rdd.RDD[pairs], error) {
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
		wide[i] = part[pairs]{rdd: join(1, batches...), own: true}
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
		var grown []*rdd.RDD[pairs]
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
		var out *rdd.RDD[pairs]
		if len(parts) > 1 {
			out = reducePanes(c, p.size, parts...)
		} else {
			out = rdd.UnionAll(c, parts...)
		}
		if keep != nil {
			out = out.Filter(keep)
		}
		if len(grown) == 0 {
			return out, nil
		}
		return alongside(c, out, rdd.UnionAll(c, grown...)), nil
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

// alongside returns r; whoever computes a partition of it computes that of other as well.
func alongside[T any](c *rdd.Context, r, other *rdd.RDD[T]) *rdd.RDD[T] {
	return rdd.ZipRows(c, "alongside", r, other, r.Partitioner(),
		func(_ int, rows, others rdd.Rows[T], out func([]T) error) error {
			if err := others.Each(func([]T) error { return nil }); err != nil {
				return err
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

package dstream

import (
	"time"

	"github.com/leat-io/leat/dstream/internal/state"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// windowed is what an inverse window holds of a key: the combination of the window's values and how
// many batches of the window have contributed to it.
type windowed[V any] struct {
	Value   V
	Batches int64
}

// moved is the value of a key that enters or leaves the window, of so many batches.
type moved[V any] struct {
	Value   V
	Batches int64
	Leaving bool
}

// inverseWindow is ReduceByKeyAndWindow with inverse.
//
//	|____________________ previous window ____________________|
//	                 |____________________ window ____________________|   time
//	|_____ old ______|                                        |__ new __|
//
// The window at t is the one at t-slide, with the batches of old taken out by inverse and those of new
// put in by reduce. Both are reduced by key beforehand, once a batch.
func inverseWindow[K comparable, V any](s *DStream[rdd.Pair[K, V]], reduce, inverse func(V, V) V, window, slide time.Duration, o windowOptions) *DStream[rdd.Pair[K, V]] {
	type pairs = rdd.Pair[K, V]
	type version = *state.Version[K, windowed[V]]
	reduced := ReduceByKey(s, reduce, o.byKey...)
	w, err := spanOf(reduced.node, window, slide)
	keep, wrong := filterOf[K, V](o)
	if err == nil {
		err = wrong
	}
	clone := codec.CloneFunc[V]()
	sliding := sliding[K, V]{reduce: reduce, inverse: inverse, clone: clone, forgets: keep != nil}
	if err == nil {
		sliding.hasher, err = keyed.HasherFor[K]()
	}
	child := newStream[pairs](s.graph, "reduceByKeyAndWindow", err, reduced.node)
	child.windowOver(w, reduced.node)
	child.stateful(tenSeconds)
	child.levelAlso = reduced.node
	keyedBy[K](child.node, alike(s.graph, o.byKey), true)

	keepState(child, func(t Time, c *rdd.Context, previous *rdd.RDD[version]) (*rdd.RDD[version], error) {
		step, slide := Time(reduced.slide), Time(w.slide)
		begin := w.first(t, reduced.slide)
		old, err := reduced.between(begin-slide, min(begin-step, t-slide))
		if err != nil {
			return nil, err
		}
		entered, err := reduced.between(max(t-slide+step, begin), t)
		if err != nil {
			return nil, err
		}
		if previous == nil && len(entered) == 0 {
			// A window is never absent: it begins with no keys, which lie as the batches' will.
			entered = append(entered, rdd.ReduceByKey(rdd.Empty[pairs](c), reduce, alike(s.graph, o.byKey)...))
		}
		return nextWindow(c, previous, old, entered, sliding), nil
	}, func(c *rdd.Context, versions *rdd.RDD[version]) *rdd.RDD[pairs] {
		return stateRows(c, "reduceByKeyAndWindow", versions, versions.Partitioner(), func(k K, s *windowed[V], out []pairs) []pairs {
			p := pairs{Key: k, Value: s.Value}
			if clone != nil {
				p.Value = clone(p.Value)
			}
			if keep == nil || keep(p) {
				return append(out, p)
			}
			return out
		})
	})
	return child
}

// sliding is how an inverse window combines and takes apart.
type sliding[K comparable, V any] struct {
	hasher          *keyed.Hasher[K]
	reduce, inverse func(V, V) V
	clone           func(V) V // nil where assignment copies: the functions may change their first argument
	forgets         bool      // drop keys that no batch of the window holds
}

// nextWindow returns the versions of the window that follow previous, which is nil before the first.
func nextWindow[K comparable, V any](c *rdd.Context, previous *rdd.RDD[*state.Version[K, windowed[V]]], old, entered []*rdd.RDD[rdd.Pair[K, V]], w sliding[K, V]) *rdd.RDD[*state.Version[K, windowed[V]]] {
	type version = *state.Version[K, windowed[V]]
	var changes []*rdd.RDD[rdd.Pair[K, moved[V]]]
	for _, b := range old {
		changes = append(changes, mark(c, b, true))
	}
	for _, b := range entered {
		changes = append(changes, mark(c, b, false))
	}
	var all *rdd.RDD[rdd.Pair[K, moved[V]]]
	var p rdd.AnyPartitioner
	if len(changes) > 0 {
		all = rdd.UnionAll(c, changes...)
		p = all.Partitioner()
	} else {
		p = previous.Partitioner()
	}
	return rdd.ZipRows(c, "slide", previous, all, p,
		func(_ int, was rdd.Rows[version], rows rdd.Rows[rdd.Pair[K, moved[V]]], out func([]version) error) error {
			var before version
			if err := was.Each(func(chunk []version) error {
				before = chunk[0]
				return nil
			}); err != nil {
				return err
			}
			changes, err := w.gather(rows, len(old) <= 1 && len(entered) <= 1)
			if err != nil {
				return err
			}
			return out([]version{w.slide(before, changes)})
		})
}

// mark notes of a batch's pairs whether they leave or enter the window.
func mark[K comparable, V any](c *rdd.Context, batch *rdd.RDD[rdd.Pair[K, V]], leaving bool) *rdd.RDD[rdd.Pair[K, moved[V]]] {
	return rdd.ZipRows[rdd.Pair[K, V], struct{}](c, "moved", batch, nil, batch.Partitioner(),
		func(_ int, rows rdd.Rows[rdd.Pair[K, V]], _ rdd.Rows[struct{}], out func([]rdd.Pair[K, moved[V]]) error) error {
			var buf []rdd.Pair[K, moved[V]]
			return rows.Each(func(chunk []rdd.Pair[K, V]) error {
				buf = buf[:0]
				for _, p := range chunk {
					buf = append(buf, rdd.Pair[K, moved[V]]{Key: p.Key, Value: moved[V]{p.Value, 1, leaving}})
				}
				return out(buf)
			})
		})
}

// gather returns what leaves and then what enters, each key once of either. single says that this is
// how rows come: where one batch leaves and one enters, both reduced.
func (w *sliding[K, V]) gather(rows rdd.Rows[rdd.Pair[K, moved[V]]], single bool) ([]rdd.Pair[K, moved[V]], error) {
	var all []rdd.Pair[K, moved[V]]
	if single {
		err := rows.Each(func(chunk []rdd.Pair[K, moved[V]]) error {
			all = append(all, chunk...)
			return nil
		})
		return all, err
	}
	left, came := keyed.New[K, moved[V]](w.hasher, 0), keyed.New[K, moved[V]](w.hasher, 0)
	if err := rows.Each(func(chunk []rdd.Pair[K, moved[V]]) error {
		for _, m := range chunk {
			t := came
			if m.Value.Leaving {
				t = left
			}
			at, fresh := t.Upsert(m.Key)
			if sum := t.Value(at); fresh {
				*sum = m.Value
			} else {
				sum.Value = w.reduce(sum.Value, m.Value.Value)
				sum.Batches += m.Value.Batches
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	all = left.Pairs(make([]rdd.Pair[K, moved[V]], 0, left.Len()+came.Len()), 0, left.Len())
	return came.Pairs(all, 0, came.Len()), nil
}

// slide takes out of a version what leaves the window and puts in what enters.
func (w *sliding[K, V]) slide(before *state.Version[K, windowed[V]], changes []rdd.Pair[K, moved[V]]) *state.Version[K, windowed[V]] {
	u := before.Update(w.hasher, (len(changes)+1)/2)
	var touched [512]int32
	for len(changes) > 0 {
		chunk := changes[:min(len(touched), len(changes))]
		changes = changes[len(chunk):]
		at := touched[:len(chunk)]
		state.Touch(u, chunk, at)
		for i := range chunk {
			w.move(u, at[i], &chunk[i].Value)
		}
	}
	return u.Done()
}

// move changes the state of a touched key.
func (w *sliding[K, V]) move(u *state.Update[K, windowed[V]], at int32, m *moved[V]) {
	s, ok := u.At(at)
	if ok && w.clone != nil {
		s.Value = w.clone(s.Value) // the version before has it too
	}
	switch {
	case m.Leaving && !ok: // it was never counted: the stream began after it
	case m.Leaving:
		s.Value = w.inverse(s.Value, m.Value)
		// A key that no batch holds is dropped; what enters starts afresh, without what rounding left behind.
		if s.Batches -= m.Batches; s.Batches == 0 && w.forgets {
			u.Unset(at)
			return
		}
		u.Set(at, s)
	case !ok:
		u.Set(at, windowed[V]{Value: m.Value, Batches: m.Batches})
	default:
		s.Value = w.reduce(s.Value, m.Value)
		s.Batches += m.Batches
		u.Set(at, s)
	}
}

package dstream

import (
	"slices"
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

// inverseWindow is ReduceByKeyAndWindow with inverse.
//
//	|____________________ previous window ____________________|
//	                 |____________________ window ____________________|   time
//	|_____ old ______|                                        |__ new __|
//
// The window at t is the one at t-slide, with the batches of old taken out by inverse and those of new
// put in by reduce. Both are reduced by key beforehand, once a batch. Distinct says that the batches are reduced already and
// lie as the options want it.
func inverseWindow[K comparable, V any](s *DStream[rdd.Pair[K, V]], distinct bool, reduce, inverse func(V, V) V, window, slide time.Duration, o windowOptions) *DStream[rdd.Pair[K, V]] {
	type pairs = rdd.Pair[K, V]
	type version = *state.Version[K, windowed[V]]
	sliding := sliding[K, V]{reduce: reduce, inverse: inverse, clone: codec.CloneFunc[V]()}
	var wrong error
	sliding.hasher, wrong = keyed.HasherFor[K]()
	opts := alike(s.graph, o.byKey)
	reduced := derive(s, "reduceByKey", nonNil(reduce != nil), func(r *rdd.RDD[pairs]) *rdd.RDD[*packedBatch[K, V]] {
		if !distinct {
			r = rdd.ReduceByKey(r, reduce, opts...)
		}
		return packBatch(r, sliding.hasher)
	})
	w, err := spanOf(reduced.node, window, slide)
	keep, badFilter := filterOf[K, V](o)
	sliding.forgets = keep != nil || o.forgets
	for _, e := range []error{badFilter, wrong} {
		if err == nil {
			err = e
		}
	}
	child := newStream[pairs](s.graph, "reduceByKeyAndWindow", err, reduced.node)
	child.windowOver(w, reduced.node)
	child.stateful(tenSeconds)
	child.levelAlso = reduced.node
	keyedBy[K](child.node, alike(s.graph, o.byKey), true)

	keepState(child, func(t Time, c *rdd.Context, previous *rdd.RDD[version]) (*rdd.RDD[version], error) {
		step, last := Time(reduced.slide), child.before(t) // a slide back, unless batches were left out
		begin := w.first(t, reduced.slide)
		old, err := reduced.between(w.first(last, reduced.slide), min(begin-step, last))
		if err != nil {
			return nil, err
		}
		entered, err := reduced.between(max(last+step, begin), t)
		if err != nil {
			return nil, err
		}
		if previous == nil && len(entered) == 0 {
			// A window is never absent: it begins with no keys, which lie as the batches' will.
			entered = append(entered, packBatch(rdd.ReduceByKey(rdd.Empty[pairs](c), reduce, opts...), sliding.hasher))
		}
		return nextWindow(c, previous, old, entered, sliding), nil
	}, func(c *rdd.Context, versions *rdd.RDD[version]) *rdd.RDD[pairs] {
		own := cloneValues[K](sliding.clone)
		return lentStates(c, "reduceByKeyAndWindow", versions, sliding.hasher, func(s *windowed[V]) V { return s.Value }, func(rows []pairs) []pairs {
			if rows = own(rows); keep == nil {
				return rows
			}
			kept := rows[:0]
			for i := range rows {
				if keep(rows[i]) {
					kept = append(kept, rows[i])
				}
			}
			return kept
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
func nextWindow[K comparable, V any](c *rdd.Context, previous *rdd.RDD[*state.Version[K, windowed[V]]], old, entered []*rdd.RDD[*packedBatch[K, V]], w sliding[K, V]) *rdd.RDD[*state.Version[K, windowed[V]]] {
	type version = *state.Version[K, windowed[V]]
	batches := slices.Concat(old, entered)
	var p rdd.AnyPartitioner
	if len(batches) > 0 {
		p = batches[0].Partitioner()
	} else {
		p = previous.Partitioner()
	}
	return rdd.ZipRowsAll(c, "slide", previous, batches, p,
		func(_ int, was rdd.Rows[version], batches []rdd.Rows[*packedBatch[K, V]], out func([]version) error) error {
			before, err := onlyRecord(was)
			if err != nil {
				return err
			}
			leaving, err := w.together(batches[:len(old)])
			if err != nil {
				return err
			}
			entering, err := w.together(batches[len(old):])
			if err != nil {
				return err
			}
			u := before.Update(w.hasher, max(leaving.len(), entering.len()))
			w.move(u, leaving, w.leave, nil)
			if entering.only != nil {
				places := make([]int32, entering.len())
				w.move(u, entering, w.enter, places)
				entering.only.places.Store(&places)
			} else {
				w.move(u, entering, w.enter, nil)
			}
			return out([]version{u.Done()})
		})
}

// change is what leaves or enters a window: each key once, and how many batches each value is of, one where batches is nil.
type change[K comparable, V any] struct {
	rows    *keyed.Packed[K, V] // nil where there are none
	batches []int64
	only    *packedBatch[K, V] // the batch that it is, nil where it is of several
}

func (c change[K, V]) len() int {
	if c.rows == nil {
		return 0
	}
	return c.rows.Len()
}

// together returns the batches as one change, their values combined in their order.
func (w *sliding[K, V]) together(batches []rdd.Rows[*packedBatch[K, V]]) (change[K, V], error) {
	var all change[K, V]
	var sum *keyed.Table[K, V]
	for i, b := range batches {
		batch, err := onlyRecord(b)
		if err != nil {
			return all, err
		}
		if batch == nil {
			continue
		}
		if len(batches) == 1 {
			all.rows, all.only = batch.rows, batch
			return all, nil
		}
		if i == 0 || sum == nil {
			sum = keyed.New[K, V](w.hasher, batch.rows.Len())
		}
		all.batches = w.add(sum, batch.rows, all.batches)
	}
	if sum != nil {
		all.rows = sum.Packed()
	}
	return all, nil
}

// slideStep is how many keys are looked for at a time.
const slideStep = 512

// add adds the values of a batch to those of the batches before, and counts the batches of each.
func (w *sliding[K, V]) add(sum *keyed.Table[K, V], batch *keyed.Packed[K, V], batches []int64) []int64 {
	var found [slideStep]int32
	values := batch.Values()
	for from := 0; from < batch.Len(); from += slideStep {
		to := min(from+slideStep, batch.Len())
		keyed.EnumeratePacked(sum, batch, from, to, found[:])
		sums := sum.Values()
		for i, at := range found[:to-from] {
			v := w.own(values.At(from + i))
			if int(at) == len(batches) {
				*sums.At(int(at)) = v
				batches = append(batches, 1)
				continue
			}
			*sums.At(int(at)) = w.reduce(*sums.At(int(at)), v)
			batches[at]++
		}
	}
	return batches
}

// own returns a value of a batch for the functions to keep and change: batches are read by others as well.
func (w *sliding[K, V]) own(v *V) V {
	if w.clone != nil {
		return w.clone(*v)
	}
	return *v
}

// move calls f for each key that leaves or enters, and notes in places, if it is not nil, where they lie.
func (w *sliding[K, V]) move(u *state.Update[K, windowed[V]], c change[K, V], f func(u *state.Update[K, windowed[V]], at int32, v V, batches int64), places []int32) {
	n := c.len()
	if n == 0 {
		return
	}
	var near []int32
	if c.only != nil {
		if known := c.only.places.Load(); known != nil && len(*known) == n {
			near = *known
		}
	}
	var touched [slideStep]int32
	values := c.rows.Values()
	batches := int64(1)
	for from := 0; from < n; from += slideStep {
		to := min(from+slideStep, n)
		if near != nil {
			state.TouchPackedNear(u, c.rows, from, to, near[from:to], touched[:])
		} else {
			state.TouchPacked(u, c.rows, from, to, touched[:])
		}
		if places != nil {
			u.Places(touched[:to-from], places[from:to])
		}
		for i, at := range touched[:to-from] {
			if c.batches != nil {
				batches = c.batches[from+i]
			}
			f(u, at, w.own(values.At(from+i)), batches)
		}
	}
}

// state returns the state of a touched key for the functions to change.
func (w *sliding[K, V]) state(u *state.Update[K, windowed[V]], at int32) (windowed[V], bool) {
	s, ok := u.At(at)
	if ok && w.clone != nil {
		s.Value = w.clone(s.Value) // the version before has it too
	}
	return s, ok
}

// leave takes a value out of the state of a touched key.
func (w *sliding[K, V]) leave(u *state.Update[K, windowed[V]], at int32, v V, batches int64) {
	s, ok := w.state(u, at)
	if !ok {
		return // it was never counted: the stream began after it
	}
	s.Value = w.inverse(s.Value, v)
	// A key that no batch holds is dropped; what enters starts afresh, without what rounding left behind.
	if s.Batches -= batches; s.Batches == 0 && w.forgets {
		u.Unset(at)
		return
	}
	u.Set(at, s)
}

// enter puts a value into the state of a touched key.
func (w *sliding[K, V]) enter(u *state.Update[K, windowed[V]], at int32, v V, batches int64) {
	s, ok := w.state(u, at)
	if !ok {
		u.Set(at, windowed[V]{Value: v, Batches: batches})
		return
	}
	s.Value = w.reduce(s.Value, v)
	s.Batches += batches
	u.Set(at, s)
}

package dstream

import (
	"reflect"

	"github.com/leat-io/leat/dstream/internal/state"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// StatefulDStream is the stream of what the function of a MapWithState emits. Its states are kept by a stream of their own,
// which Checkpoint is about; Persist is about what is emitted. Functions that take a stream are given its field DStream, as
// in Print(s.DStream, w, 10).
type StatefulDStream[K comparable, S, E any] struct {
	*DStream[E]
	snapshots func() *DStream[rdd.Pair[K, S]]
}

// MapWithState returns, for each batch, what the function of spec emits. It is called for every record of the batch, in the
// order of its partition, with the key's state, which it may read, update and remove; a later record of the key sees what an
// earlier one did. With a time-out it is called for keys that have had no data for too long as well; see StateSpec.
//
// Shape: as many partitions as spec says, each with what was emitted for its keys in the order of the calls, those of
// time-outs last; no partitioner. Never absent: a batch without data emits nothing, time-outs apart.
// Time: state is of the batch before, also where the stream has no data; a time-out is due in a batch that is checkpointed.
// Cost: the records of the batch and the memory of what they changed, however many keys have state; a batch with time-outs
// due passes over all keys.
// Errors: the context needs a checkpoint directory (ErrCheckpointDirNotSet at Start): each batch derives from the one
// before, so its lineage is cut by a checkpoint every ten slides unless Checkpoint says otherwise. A panic of the function, or an error
// of one that may return it, fails the batch with a *rdd.UserError.
// Source: Apache Spark, mapWithState of its pair streams.
func MapWithState[K comparable, V, S, E any](s *DStream[rdd.Pair[K, V]], spec StateSpec[K, V, S, E]) *StatefulDStream[K, S, E] {
	type step = *stateStep[K, S, E]
	m := stateMapping[K, V, S, E]{f: spec.f, timeout: spec.timeout, clone: codec.CloneFunc[S]()}
	err := spec.validate()
	if err == nil {
		m.hasher, err = keyed.HasherFor[K]()
	}
	states := newStream[step](s.graph, "mapWithState states", err, s.node)
	states.stateful(tenSlides)
	states.lastingState()
	states.persistAt(rdd.MemoryOnly())
	m.at = states.node
	p := spec.placement(s.graph)
	states.keyedAt(p, true)
	states.holds = []reflect.Type{typeOf[K](), typeOf[S](), typeOf[E]()}
	states.compute = func(t Time) (*rdd.RDD[step], error) {
		previous, err := states.previous(t)
		if err != nil {
			return nil, err
		}
		batch, err := s.rddAt(t)
		if err != nil {
			return nil, err
		}
		c := states.rddsAt(t)
		next := m.next(t, c, previous, batch, spec.initial, p)
		return next, next.Err()
	}
	emitted := newStream[E](s.graph, "mapWithState", nil, states.node)
	emitted.checkpointOf = states.node
	clone := codec.CloneFunc[E]()
	emitted.compute = func(t Time) (*rdd.RDD[E], error) {
		r, err := states.rddAt(t)
		if err != nil {
			return nil, err
		}
		out := emittedRows(emitted.rddsAt(t), r, clone)
		return out, out.Err()
	}
	return &StatefulDStream[K, S, E]{DStream: emitted, snapshots: func() *DStream[rdd.Pair[K, S]] {
		return snapshotsOf(states, m.clone)
	}}
}

// tenSlides is the automatic checkpoint interval of a MapWithState.
func tenSlides(slide millis) millis { return 10 * slide }

// StateSnapshots returns, for each batch, the state of every key after it.
//
// Shape: one pair per key with state; as many partitions as the stream has, no partitioner. Never absent.
// Order: keys in the order they got state, a key that came back after removal perhaps later.
// Cost: what reads it passes over all keys.
// Errors: ErrContextActive once the context has started.
func (s *StatefulDStream[K, S, E]) StateSnapshots() *DStream[rdd.Pair[K, S]] { return s.snapshots() }

func snapshotsOf[K comparable, S, E any](states *DStream[*stateStep[K, S, E]], clone func(S) S) *DStream[rdd.Pair[K, S]] {
	type step = *stateStep[K, S, E]
	child := newStream[rdd.Pair[K, S]](states.graph, "stateSnapshots", nil, states.node)
	child.compute = func(t Time) (*rdd.RDD[rdd.Pair[K, S]], error) {
		r, err := states.rddAt(t)
		if err != nil {
			return nil, err
		}
		out := rdd.ZipRows[step, struct{}](child.rddsAt(t), "stateSnapshots", r, nil, nil,
			func(_ int, rows rdd.Rows[step], _ rdd.Rows[struct{}], out func([]rdd.Pair[K, S]) error) error {
				return rows.Each(func(chunk []step) error {
					for _, s := range chunk {
						if err := pushStates(s.states, out, func(s *stamped[S]) S { return s.Value }, cloneValues[K](clone)); err != nil {
							return err
						}
					}
					return nil
				})
			})
		return out, out.Err()
	}
	return child
}

// emittedRows returns what the steps of a batch have emitted.
func emittedRows[K comparable, S, E any](c *rdd.Context, steps *rdd.RDD[*stateStep[K, S, E]], clone func(E) E) *rdd.RDD[E] {
	type step = *stateStep[K, S, E]
	return rdd.ZipRows[step, struct{}](c, "mapWithState", steps, nil, nil,
		func(_ int, rows rdd.Rows[step], _ rdd.Rows[struct{}], out func([]E) error) error {
			return rows.Each(func(chunk []step) error {
				for _, s := range chunk {
					// What is handed out may be changed by whoever gets it.
					for rest := s.emitted; len(rest) > 0; {
						buf := append([]E(nil), rest[:min(len(rest), emittedAtATime)]...)
						rest = rest[len(buf):]
						if clone != nil {
							for i := range buf {
								buf[i] = clone(buf[i])
							}
						}
						if err := out(buf); err != nil {
							return err
						}
					}
				}
				return nil
			})
		})
}

const emittedAtATime = 512

// stateMapping is what one MapWithState does in a partition.
type stateMapping[K comparable, V, S, E any] struct {
	f       stateFunction[K, V, S, E]
	timeout millis // 0: none
	hasher  *keyed.Hasher[K]
	clone   func(S) S // nil where assignment copies: f may change what it is given
	at      *node
}

// next returns the steps of a batch. Previous is nil before the first batch, batch where the stream is absent.
func (m stateMapping[K, V, S, E]) next(t Time, c *rdd.Context, previous *rdd.RDD[*stateStep[K, S, E]], batch *rdd.RDD[rdd.Pair[K, V]], initial *rdd.RDD[rdd.Pair[K, S]], p rdd.Partitioner[K]) *rdd.RDD[*stateStep[K, S, E]] {
	type step = *stateStep[K, S, E]
	const op = "mapWithState states"
	var placed *rdd.RDD[rdd.Pair[K, V]]
	if batch != nil {
		placed = rdd.PartitionBy(batch.In(c), p)
	} else if previous == nil {
		placed = rdd.PartitionBy(rdd.Empty[rdd.Pair[K, V]](c), p)
	}
	scan := m.timeout > 0 && m.at.due(t)
	if previous == nil && initial != nil {
		return rdd.ZipRows(c, op, rdd.PartitionBy(initial.In(c), p), placed, p,
			func(part int, was rdd.Rows[rdd.Pair[K, S]], rows rdd.Rows[rdd.Pair[K, V]], out func([]step) error) error {
				before, err := m.begin(t, was)
				if err != nil {
					return err
				}
				return m.push(t, part, before, rows, scan, out)
			})
	}
	return rdd.ZipRows(c, op, previous, placed, p,
		func(part int, was rdd.Rows[step], rows rdd.Rows[rdd.Pair[K, V]], out func([]step) error) error {
			before := step(&stateStep[K, S, E]{oldest: t})
			if err := was.Each(func(chunk []step) error {
				before = chunk[0]
				return nil
			}); err != nil {
				return err
			}
			return m.push(t, part, before, rows, scan, out)
		})
}

// begin returns the step before the first batch, at t, from the initial state.
func (m stateMapping[K, V, S, E]) begin(t Time, initial rdd.Rows[rdd.Pair[K, S]]) (*stateStep[K, S, E], error) {
	u := state.Rebuild[K, stamped[S]](m.hasher, 0)
	if err := initial.Each(func(chunk []rdd.Pair[K, S]) error {
		for _, p := range chunk {
			u.Put(p.Key, stamped[S]{p.Value, t})
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return &stateStep[K, S, E]{states: u.Done(), oldest: t}, nil
}

// push pushes the step that follows before.
func (m stateMapping[K, V, S, E]) push(t Time, part int, before *stateStep[K, S, E], rows rdd.Rows[rdd.Pair[K, V]], scan bool, out func([]*stateStep[K, S, E]) error) error {
	run := stateRun[K, V, S, E]{stateMapping: m, t: t, part: part}
	next := &stateStep[K, S, E]{oldest: before.oldest}
	var err error
	if next.states, err = run.rows(before.states, rows); err != nil {
		return err
	}
	if scan && next.oldest < t-Time(m.timeout) {
		if next.states, next.oldest, err = run.timeOuts(next.states); err != nil {
			return err
		}
	}
	next.emitted = run.emitted
	return out([]*stateStep[K, S, E]{next})
}

// stateRun is a stateMapping at work on a batch of a partition.
type stateRun[K comparable, V, S, E any] struct {
	stateMapping[K, V, S, E]
	t       Time
	part    int
	seen    int64
	state   State[S]
	emitted []E
}

// rows calls the function for the batch's records.
func (r *stateRun[K, V, S, E]) rows(before *state.Version[K, stamped[S]], rows rdd.Rows[rdd.Pair[K, V]]) (*state.Version[K, stamped[S]], error) {
	u := before.Update(r.hasher, 0)
	var at []int32
	err := rows.Each(func(chunk []rdd.Pair[K, V]) error {
		if len(at) < len(chunk) {
			at = make([]int32, len(chunk))
		}
		state.Touch(u, chunk, at[:len(chunk)])
		for i := range chunk {
			old, had := u.At(at[i])
			if err := r.call(chunk[i].Key, rdd.Option[V]{Value: chunk[i].Value, OK: true}, old.Value, had); err != nil {
				return err
			}
			switch s := &r.state; {
			case s.removed:
				u.Unset(at[i])
			case s.updated:
				u.Set(at[i], stamped[S]{s.value, r.t})
			case had && r.timeout > 0:
				u.Set(at[i], stamped[S]{old.Value, r.t})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return u.Done(), nil
}

// call calls the function, which leaves what it did to the state in r.state.
func (r *stateRun[K, V, S, E]) call(key K, value rdd.Option[V], old S, had bool) error {
	if had && r.clone != nil {
		old = r.clone(old)
	}
	r.state = State[S]{value: old, exists: had, timingOut: !value.OK}
	e, emit, err := r.f(r.t, key, value, &r.state)
	if err != nil {
		return &rdd.UserError{Op: "mapWithState", Site: r.at.site, Partition: r.part, Offset: r.seen, Err: err}
	}
	if emit {
		r.emitted = append(r.emitted, e)
	}
	r.seen++
	return nil
}

// timeOuts calls the function for the keys that have had no data for the time-out and removes them. It returns when the
// oldest of the others was touched.
func (r *stateRun[K, V, S, E]) timeOuts(states *state.Version[K, stamped[S]]) (*state.Version[K, stamped[S]], Time, error) {
	limit, oldest := r.t-Time(r.timeout), r.t
	u := states.Update(r.hasher, 0)
	var err error
	states.Each(func(k K, s *stamped[S]) bool {
		if s.At >= limit {
			oldest = min(oldest, s.At)
			return true
		}
		u.Delete(k)
		err = r.call(k, rdd.Option[V]{}, s.Value, true)
		return err == nil
	})
	if err != nil {
		return nil, 0, err
	}
	return u.Done(), oldest, nil
}

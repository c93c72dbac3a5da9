package dstream

import (
	"fmt"
	"iter"

	"github.com/leat-io/leat/dstream/internal/state"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// UpdateStateByKey returns, for each batch, the state of every key: f of the key's values in the
// batch and of its state before. A state of none removes the key. f is called for every key that has
// state or values, with no values where the batch has none for it; TouchedOnly limits it to keys with
// values. f may change the old state it is given.
//
// Shape: one pair per key with state, over the context's parallelism unless the options say otherwise,
// the chosen partitioner. Absent until the first batch that is present; where the parent is absent later, f
// is called for every key without values.
// Order: keys in the order they got state, a key that came back after removal perhaps later.
// Cost: a call of f for every live key; with TouchedOnly for the keys of the batch, and the memory of what
// changed. What reads the stream passes over all live keys.
// Errors: the context needs a checkpoint directory (ErrCheckpointDirNotSet at Start): each batch derives
// from the one before, so its lineage is cut by a checkpoint every ten seconds unless Checkpoint says
// otherwise. A panic of f fails the batch with a *rdd.UserError.
// Source: Zaharia et al., "Discretized Streams", SOSP 2013, section "D-Stream API".
func UpdateStateByKey[K comparable, V, S any](s *DStream[rdd.Pair[K, V]], f func(values []V, old rdd.Option[S]) rdd.Option[S], opts ...StateOption) *DStream[rdd.Pair[K, S]] {
	if f == nil {
		return updateState[K, V, S](s, nil, opts)
	}
	return updateState(s, func(_ Time, _ K, values []V, old rdd.Option[S]) rdd.Option[S] { return f(values, old) }, opts)
}

// UpdateStateByKeyTimed returns, for each batch, the state of every key, as UpdateStateByKey does; f is
// given the batch time and the key as well.
//
// Shape, Order, Cost and Errors: as UpdateStateByKey.
func UpdateStateByKeyTimed[K comparable, V, S any](s *DStream[rdd.Pair[K, V]], f func(t Time, key K, values []V, old rdd.Option[S]) rdd.Option[S], opts ...StateOption) *DStream[rdd.Pair[K, S]] {
	return updateState(s, f, opts)
}

// A StateOption is an option of the operations with state.
type StateOption func(*stateOptions)

type stateOptions struct {
	byKey       []ByKeyOption
	initial     any // *rdd.RDD[rdd.Pair[K, S]], of the operation's types
	touchedOnly bool
	forgetsPart bool
}

// StatePartitioned gives where keys lie: rdd.NumPartitions, rdd.PartitionedBy.
func StatePartitioned(opts ...ByKeyOption) StateOption {
	return func(o *stateOptions) { o.byKey = append(o.byKey, opts...) }
}

// InitialState gives the state before the first batch that has data; of a key that occurs twice the last
// one counts. The types must be those of the operation.
func InitialState[K comparable, S any](initial *rdd.RDD[rdd.Pair[K, S]]) StateOption {
	return func(o *stateOptions) { o.initial = initial }
}

// TouchedOnly promises that without values the state stays as it is, so that f need only be called for
// keys that have values.
func TouchedOnly() StateOption { return func(o *stateOptions) { o.touchedOnly = true } }

// ForgetPartitioner makes the result carry no partitioner. An iterator function that returns other
// keys than it was given needs it.
func ForgetPartitioner() StateOption { return func(o *stateOptions) { o.forgetsPart = true } }

func stateOptionsOf(opts []StateOption) stateOptions {
	var o stateOptions
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// stateUpdate is what one UpdateStateByKey does in a partition.
type stateUpdate[K comparable, V, S any] struct {
	hasher *keyed.Hasher[K]
	f      func(Time, K, []V, rdd.Option[S]) rdd.Option[S]
	clone  func(S) S // nil where assignment copies: f may change what it is given
	all    bool      // call f for keys without values
}

func updateState[K comparable, V, S any](s *DStream[rdd.Pair[K, V]], f func(Time, K, []V, rdd.Option[S]) rdd.Option[S], opts []StateOption) *DStream[rdd.Pair[K, S]] {
	type version = *state.Version[K, S]
	o := stateOptionsOf(opts)
	u := stateUpdate[K, V, S]{f: f, clone: codec.CloneFunc[S](), all: !o.touchedOnly}
	initial, err := initialOf[K, S](o)
	if f == nil {
		err = ErrNilFunction
	}
	if err == nil {
		u.hasher, err = keyed.HasherFor[K]()
	}
	child := newStream[rdd.Pair[K, S]](s.graph, "updateStateByKey", err, s.node)
	child.stateful(tenSeconds)
	child.lastingState()
	byKey := alike(s.graph, o.byKey)
	keyedBy[K](child.node, byKey, true)
	keepState(child, func(t Time, c *rdd.Context, previous *rdd.RDD[version]) (*rdd.RDD[version], error) {
		batch, err := s.rddAt(t)
		if err != nil || batch == nil && previous == nil {
			return nil, err
		}
		var grouped *rdd.RDD[rdd.Pair[K, []V]]
		var p rdd.AnyPartitioner
		if batch != nil {
			grouped = rdd.GroupByKey(batch.In(c), byKey...)
			p = grouped.Partitioner()
		} else {
			p = previous.Partitioner()
		}
		if previous == nil && initial != nil {
			previous = initialVersions(c, initial, u.hasher, p)
		}
		next := rdd.ZipRows(c, "updateStateByKey", previous, grouped, p,
			func(_ int, was rdd.Rows[version], rows rdd.Rows[rdd.Pair[K, []V]], out func([]version) error) error {
				v, err := u.next(t, was, rows)
				if err != nil {
					return err
				}
				return out([]version{v})
			})
		return next, next.Err()
	}, func(c *rdd.Context, versions *rdd.RDD[version]) *rdd.RDD[rdd.Pair[K, S]] {
		p := versions.Partitioner()
		if o.forgetsPart {
			p = nil
		}
		return stateRows(c, "updateStateByKey", versions, p, func(s *S) S { return *s }, cloneValues[K](u.clone))
	})
	return child
}

// initialOf returns the initial state of the options, nil if none is given.
func initialOf[K comparable, S any](o stateOptions) (*rdd.RDD[rdd.Pair[K, S]], error) {
	initial, ok := o.initial.(*rdd.RDD[rdd.Pair[K, S]])
	if o.initial != nil && !ok {
		return nil, fmt.Errorf("%w: the initial state is a %T", ErrArgument, o.initial)
	}
	return initial, nil
}

// initialVersions returns the first versions: those of an RDD of pairs.
func initialVersions[K comparable, S any](c *rdd.Context, initial *rdd.RDD[rdd.Pair[K, S]], h *keyed.Hasher[K], p rdd.AnyPartitioner) *rdd.RDD[*state.Version[K, S]] {
	placed := initial.In(c)
	if typed, ok := p.(rdd.Partitioner[K]); ok {
		placed = rdd.PartitionBy(placed, typed)
	}
	return rdd.ZipRows[rdd.Pair[K, S], struct{}](c, "initialState", placed, nil, p,
		func(_ int, rows rdd.Rows[rdd.Pair[K, S]], _ rdd.Rows[struct{}], out func([]*state.Version[K, S]) error) error {
			u := state.Rebuild[K, S](h, 0)
			if err := rows.Each(func(chunk []rdd.Pair[K, S]) error {
				for _, p := range chunk {
					u.Put(p.Key, p.Value)
				}
				return nil
			}); err != nil {
				return err
			}
			return out([]*state.Version[K, S]{u.Done()})
		})
}

// next returns the version after a batch of grouped values.
func (u *stateUpdate[K, V, S]) next(t Time, was rdd.Rows[*state.Version[K, S]], rows rdd.Rows[rdd.Pair[K, []V]]) (*state.Version[K, S], error) {
	before, err := onlyRecord(was)
	if err != nil {
		return nil, err
	}
	if before == nil {
		before = new(state.Version[K, S])
	}
	if u.all {
		return u.everyKey(t, before, rows)
	}
	next := before.Update(u.hasher, 0)
	var at []int32
	err = rows.Each(func(chunk []rdd.Pair[K, []V]) error {
		if len(at) < len(chunk) {
			at = make([]int32, len(chunk))
		}
		state.Touch(next, chunk, at[:len(chunk)])
		for i, row := range chunk {
			if s := u.f(t, row.Key, row.Value, u.own(next.At(at[i]))); s.OK {
				next.Set(at[i], s.Value)
			} else {
				next.Unset(at[i])
			}
		}
		return nil
	})
	return next.Done(), err
}

// everyKey calls f for every key with state and then for the batch's new keys.
func (u *stateUpdate[K, V, S]) everyKey(t Time, before *state.Version[K, S], rows rdd.Rows[rdd.Pair[K, []V]]) (*state.Version[K, S], error) {
	batch := keyed.New[K, []V](u.hasher, 0)
	if err := rows.Each(func(chunk []rdd.Pair[K, []V]) error {
		for _, row := range chunk {
			at, _ := batch.Upsert(row.Key)
			*batch.Value(at) = row.Value
		}
		return nil
	}); err != nil {
		return nil, err
	}
	next := state.Rebuild[K, S](u.hasher, before.Len())
	before.Each(func(k K, s *S) bool {
		var values []V
		if at, ok := batch.Find(k); ok {
			values = *batch.Value(at)
		}
		if now := u.f(t, k, values, u.own(*s, true)); now.OK {
			next.Put(k, now.Value)
		}
		return true
	})
	for i := range batch.Len() {
		k := batch.Key(i)
		if _, had := before.Get(k); had {
			continue
		}
		if now := u.f(t, k, *batch.Value(i), rdd.Option[S]{}); now.OK {
			next.Put(k, now.Value)
		}
	}
	return next.Done(), nil
}

// own gives f a state of its own.
func (u *stateUpdate[K, V, S]) own(s S, ok bool) rdd.Option[S] {
	if ok && u.clone != nil {
		s = u.clone(s)
	}
	return rdd.Option[S]{Value: s, OK: ok}
}

// StateInput is a key with its values in a batch and its state before.
type StateInput[K comparable, V, S any] struct {
	Key    K
	Values []V
	Old    rdd.Option[S]
}

// UpdateStateByKeyIter returns, for each batch, the pairs that f makes of each partition's keys with
// their values and states. A key that f leaves out loses its state.
//
// Shape: the pairs of f, over the context's parallelism unless the options say otherwise. The partitioner is
// kept, which promises that f returns keys it was given, unless ForgetPartitioner is set. Absent as
// UpdateStateByKey.
// Order: keys with state and then new ones, as first seen.
// Cost: every live key passes through f in every batch; with ForgetPartitioner through a shuffle too.
// Errors: as UpdateStateByKey. TouchedOnly is refused with ErrArgument: f sees all keys.
func UpdateStateByKeyIter[K comparable, V, S any](s *DStream[rdd.Pair[K, V]], f func(t Time, rows iter.Seq[StateInput[K, V, S]]) iter.Seq[rdd.Pair[K, S]], opts ...StateOption) *DStream[rdd.Pair[K, S]] {
	o := stateOptionsOf(opts)
	initial, err := initialOf[K, S](o)
	switch {
	case f == nil:
		err = ErrNilFunction
	case o.touchedOnly && err == nil:
		err = fmt.Errorf("%w: TouchedOnly with an iterator function", ErrArgument)
	}
	child := newStream[rdd.Pair[K, S]](s.graph, "updateStateByKeyIter", err, s.node)
	child.stateful(tenSeconds)
	child.lastingState()
	byKey := alike(s.graph, o.byKey)
	keyedBy[K](child.node, byKey, !o.forgetsPart)
	var partitions []rdd.PartitionOption
	if !o.forgetsPart {
		partitions = append(partitions, rdd.PreservePartitioning())
	}
	keepState(child, func(t Time, c *rdd.Context, previous *rdd.RDD[rdd.Pair[K, S]]) (*rdd.RDD[rdd.Pair[K, S]], error) {
		batch, err := s.rddAt(t)
		if err != nil || batch == nil && previous == nil {
			return nil, err
		}
		if previous == nil {
			previous = initial
		}
		switch {
		case previous == nil:
			previous = rdd.Empty[rdd.Pair[K, S]](c)
		case batch == nil:
			batch = rdd.Empty[rdd.Pair[K, V]](c)
		}
		both := rdd.CoGroup(previous.In(c), batch.In(c), byKey...)
		next := rdd.MapPartitions(both, func(rows iter.Seq[rdd.Pair[K, rdd.CoGrouped[S, V]]]) iter.Seq[rdd.Pair[K, S]] {
			return f(t, func(yield func(StateInput[K, V, S]) bool) {
				for row := range rows {
					in := StateInput[K, V, S]{Key: row.Key, Values: row.Value.Right}
					if len(row.Value.Left) > 0 {
						in.Old = keyed.Some(row.Value.Left[0])
					}
					if !yield(in) {
						return
					}
				}
			})
		}, partitions...)
		return next, next.Err()
	}, func(c *rdd.Context, state *rdd.RDD[rdd.Pair[K, S]]) *rdd.RDD[rdd.Pair[K, S]] { return state.In(c) })
	return child
}

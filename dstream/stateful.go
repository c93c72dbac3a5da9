package dstream

import (
	"maps"
	"slices"

	"github.com/leat-io/leat/dstream/internal/state"
	"github.com/leat-io/leat/rdd"
)

// stateful makes n a stream whose batches each derive from the one before: it is persisted, and
// checkpointed at the interval that auto gives for its slide unless the program chooses one.
func (n *node) stateful(auto func(slide millis) millis) {
	n.graph.mu.Lock()
	defer n.graph.mu.Unlock()
	if n.graph.started {
		return
	}
	level := rdd.MemoryOnlySer()
	n.level, n.must, n.auto = &level, true, auto
}

// lastingState makes n a stream that holds something of all batches so far, which no later batch can make again.
func (n *node) lastingState() {
	n.graph.mu.Lock()
	defer n.graph.mu.Unlock()
	n.lasting = true
}

// stateRDDs are the state of a stream as RDDs of S, one for each batch, each made from the one
// before. What the stream shows is derived from them; it is they that are persisted and
// checkpointed.
type stateRDDs[S any] struct {
	node    *node
	next    func(t Time, c *rdd.Context, previous *rdd.RDD[S]) (*rdd.RDD[S], error)
	batches map[Time]*rdd.RDD[S]
	retired retired
}

// keepState makes a stream show what rows derives from state that next carries from batch to
// batch; next gets nil before the first state and may return nil where there is none.
func keepState[S, T any](s *DStream[T], next func(t Time, c *rdd.Context, previous *rdd.RDD[S]) (*rdd.RDD[S], error), show func(c *rdd.Context, state *rdd.RDD[S]) *rdd.RDD[T]) {
	states := &stateRDDs[S]{node: s.node, next: next, batches: map[Time]*rdd.RDD[S]{}}
	s.compute = func(t Time) (*rdd.RDD[T], error) {
		// The batch before is asked of the stream, so that it is remembered and forgotten like any other.
		if _, err := s.previous(t); err != nil {
			return nil, err
		}
		c := s.rddsAt(t)
		r, err := states.make(t, c)
		if r == nil || err != nil {
			return nil, err
		}
		return show(c, r), r.Err()
	}
	s.keep = func(Time, *rdd.RDD[T], *rdd.StorageLevel, bool) error { return nil } // the state is kept instead
	s.dropped = states.forget
	s.node.written = func() []CheckpointFile {
		return inFiles(s.graph, slices.Sorted(maps.Keys(states.batches)), func(t Time) *rdd.RDD[S] { return states.batches[t] })
	}
	s.node.restore = func(f CheckpointFile) error {
		c := s.rddsAt(f.Time)
		r, err := restored[S](s.node, c, f)
		if err != nil {
			return err
		}
		states.batches[f.Time], s.rdds[f.Time] = r, show(c, r)
		return nil
	}
}

// make makes the state after batch t, nil where there is none yet.
func (s *stateRDDs[S]) make(t Time, c *rdd.Context) (*rdd.RDD[S], error) {
	at := s.node.before(t)
	previous := s.batches[at]
	if previous == nil && s.node.lasting {
		if newest, ok := newestUpTo(s.batches, at); ok {
			previous = s.batches[newest] // see DStream.previous
		}
	}
	r, err := s.next(t, c, previous)
	if r == nil || err != nil {
		return nil, err
	}
	if err := s.keep(t, r); err != nil {
		return nil, err
	}
	s.batches[t] = r
	return r, nil
}

func (s *stateRDDs[S]) keep(t Time, r *rdd.RDD[S]) error {
	if s.node.level != nil {
		if err := r.Persist(*s.node.level); err != nil {
			return err
		}
	}
	if s.node.due(t) {
		return checkpoint(s.node, t, r, s.batches)
	}
	return nil
}

// forget lets go of the states up to and including a batch.
func (s *stateRDDs[S]) forget(upTo Time) {
	var gone []Time
	for t := range s.batches {
		if t <= upTo {
			gone = append(gone, t)
		}
	}
	slices.Sort(gone)
	for _, t := range gone {
		retire(&s.retired, s.batches[t].Node(), s.node.scope(t), s.node.graph.keep, s.node.graph.keepFiles)
		delete(s.batches, t)
	}
}

// stateRows returns what show makes of the keys of the versions, each with what pick takes from its state, in their order. It
// is given many keys at a time, which it may change and return.
func stateRows[K comparable, S, T any](c *rdd.Context, op string, versions *rdd.RDD[*state.Version[K, S]], p rdd.AnyPartitioner, pick func(s *S) T, show func(rows []rdd.Pair[K, T]) []rdd.Pair[K, T]) *rdd.RDD[rdd.Pair[K, T]] {
	return rdd.ZipRows[*state.Version[K, S], struct{}](c, op, versions, nil, p,
		func(_ int, rows rdd.Rows[*state.Version[K, S]], _ rdd.Rows[struct{}], out func([]rdd.Pair[K, T]) error) error {
			return rows.Each(func(chunk []*state.Version[K, S]) error {
				for _, v := range chunk {
					if err := pushStates(v, out, pick, show); err != nil {
						return err
					}
				}
				return nil
			})
		})
}

// pushStates pushes what show makes of the keys of a version.
func pushStates[K comparable, S, T any](v *state.Version[K, S], out func([]rdd.Pair[K, T]) error, pick func(s *S) T, show func(rows []rdd.Pair[K, T]) []rdd.Pair[K, T]) error {
	var err error
	state.Project(v, pick, func(rows []rdd.Pair[K, T]) bool {
		if rows = show(rows); len(rows) > 0 {
			err = out(rows)
		}
		return err == nil
	})
	return err
}

// cloneValues returns a show that gives each row a value of its own; clone is nil where assignment does that.
func cloneValues[K comparable, V any](clone func(V) V) func(rows []rdd.Pair[K, V]) []rdd.Pair[K, V] {
	return func(rows []rdd.Pair[K, V]) []rdd.Pair[K, V] {
		if clone != nil {
			for i := range rows {
				rows[i].Value = clone(rows[i].Value)
			}
		}
		return rows
	}
}

// persistAt sets the level of a stream whose kind has one of its own.
func (n *node) persistAt(level rdd.StorageLevel) {
	n.graph.mu.Lock()
	defer n.graph.mu.Unlock()
	if !n.graph.started {
		n.level = &level
	}
}

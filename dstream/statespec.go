package dstream

import (
	"fmt"
	"time"

	"github.com/leat-io/leat/rdd"
)

// StateSpec says what MapWithState does: the function, and what is set with the methods, each of which returns a spec
// with that set and leaves its receiver as it is; of several calls the last one counts.
type StateSpec[K comparable, V, S, E any] struct {
	f           stateFunction[K, V, S, E]
	initial     *rdd.RDD[rdd.Pair[K, S]]
	partitions  int // 0: the context's parallelism
	partitioner rdd.Partitioner[K]
	timeout     millis // 0: none
	err         error
}

// stateFunction is the form that all functions of states are brought into. What it returns is emitted if emit is set.
type stateFunction[K comparable, V, S, E any] func(t Time, key K, value rdd.Option[V], state *State[S]) (e E, emit bool, err error)

// NewStateSpec returns the spec of a function that emits a record for each it is called with. Value is None where the key
// is timing out.
//
// Errors: Start reports a nil f.
func NewStateSpec[K comparable, V, S, E any](f func(key K, value rdd.Option[V], state *State[S]) E) StateSpec[K, V, S, E] {
	if f == nil {
		return StateSpec[K, V, S, E]{}
	}
	return StateSpec[K, V, S, E]{f: func(_ Time, key K, value rdd.Option[V], state *State[S]) (E, bool, error) {
		return f(key, value, state), true, nil
	}}
}

// NewTimedStateSpec returns the spec of a function that is given the batch time as well and emits what it returns, or
// nothing for None.
//
// Errors: Start reports a nil f.
func NewTimedStateSpec[K comparable, V, S, E any](f func(t Time, key K, value rdd.Option[V], state *State[S]) rdd.Option[E]) StateSpec[K, V, S, E] {
	if f == nil {
		return StateSpec[K, V, S, E]{}
	}
	return StateSpec[K, V, S, E]{f: func(t Time, key K, value rdd.Option[V], state *State[S]) (E, bool, error) {
		e := f(t, key, value, state)
		return e.Value, e.OK, nil
	}}
}

// NewTryStateSpec is NewTimedStateSpec for a function that may fail. An error that it returns fails the batch, and errors.Is
// finds it in that of the batch.
//
// Errors: Start reports a nil f.
func NewTryStateSpec[K comparable, V, S, E any](f func(t Time, key K, value rdd.Option[V], state *State[S]) (rdd.Option[E], error)) StateSpec[K, V, S, E] {
	if f == nil {
		return StateSpec[K, V, S, E]{}
	}
	return StateSpec[K, V, S, E]{f: func(t Time, key K, value rdd.Option[V], state *State[S]) (E, bool, error) {
		e, err := f(t, key, value, state)
		return e.Value, e.OK, err
	}}
}

// Initial gives the state before the first batch; of a key that occurs twice the last one counts. Its keys have the time of the
// first batch for their last update.
func (s StateSpec[K, V, S, E]) Initial(initial *rdd.RDD[rdd.Pair[K, S]]) StateSpec[K, V, S, E] {
	s.initial = initial
	return s
}

// NumPartitions has keys lie by their hash in n partitions, in place of as many as the context's parallelism.
//
// Errors: Start reports ErrArgument for n below 1.
func (s StateSpec[K, V, S, E]) NumPartitions(n int) StateSpec[K, V, S, E] {
	s.partitions, s.partitioner, s.err = n, nil, nil
	if n < 1 {
		s.err = fmt.Errorf("%w: %d partitions", ErrArgument, n)
	}
	return s
}

// Partitioner has keys lie where p says. It takes the place of NumPartitions, and the other way round.
//
// Errors: Start reports ErrArgument for a nil p.
func (s StateSpec[K, V, S, E]) Partitioner(p rdd.Partitioner[K]) StateSpec[K, V, S, E] {
	s.partitions, s.partitioner, s.err = 0, p, nil
	if p == nil {
		s.err = fmt.Errorf("%w: no partitioner", ErrArgument)
	}
	return s
}

// Timeout removes the state of a key that has had no data for longer than d: the function is called once more, with no
// value and IsTimingOut true, and then the key is gone. Keys are looked over in the batches that are checkpointed, by default every
// tenth, so a key may stay for that much longer; data that comes before or in such a batch keeps it.
//
// Errors: Start reports ErrBadDuration unless d is a positive whole number of milliseconds.
func (s StateSpec[K, V, S, E]) Timeout(d time.Duration) StateSpec[K, V, S, E] {
	s.timeout = -1
	if ms, err := toMillis(d); err == nil {
		s.timeout = ms
	}
	return s
}

// validate returns what is wrong with the spec.
func (s StateSpec[K, V, S, E]) validate() error {
	switch {
	case s.f == nil:
		return ErrNilFunction
	case s.err != nil:
		return s.err
	case s.timeout < 0:
		return fmt.Errorf("%w: the time-out is not a positive whole number of milliseconds", ErrBadDuration)
	case s.initial != nil:
		return s.initial.Err()
	}
	return nil
}

// String returns the spec's settings.
func (s StateSpec[K, V, S, E]) String() string {
	where := "default partitions"
	switch {
	case s.partitioner != nil:
		where = fmt.Sprint(s.partitioner)
	case s.partitions != 0:
		where = fmt.Sprintf("%d partitions", s.partitions)
	}
	return fmt.Sprintf("mapWithState: %s, initial state %t, time-out %v", where, s.initial != nil, ms(s.timeout))
}

// placement returns where the keys lie.
func (s StateSpec[K, V, S, E]) placement(g *Graph) rdd.Partitioner[K] {
	switch {
	case s.partitioner != nil:
		return s.partitioner
	case s.partitions > 0:
		return rdd.Hash[K](s.partitions)
	}
	return rdd.Hash[K](g.rdds.Parallelism())
}

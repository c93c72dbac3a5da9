package dstream

import (
	"fmt"

	"github.com/leat-io/leat/dstream/internal/state"
	"github.com/leat-io/leat/rdd/codec"
)

// stamped is the state of a key with the batch that last touched it.
type stamped[S any] struct {
	Value S
	At    Time
}

// stateStep is what a MapWithState holds of a partition after a batch: the state of its keys and what the batch emitted.
// It is the one record of the partition.
type stateStep[K comparable, S, E any] struct {
	states  *state.Version[K, stamped[S]]
	oldest  Time // no state was touched before
	emitted []E
}

// Immutable tells package codec that a step never changes, so that readers may share it.
func (s *stateStep[K, S, E]) Immutable() {}

// Footprint tells package codec what holding the step takes.
func (s *stateStep[K, S, E]) Footprint() int64 {
	if s == nil {
		return 0
	}
	sum := s.states.Footprint()
	if deep := codec.SizeFunc[[]E](); deep != nil {
		sum += deep(&s.emitted)
	}
	return sum
}

// stepFrame is how a step travels.
type stepFrame[E any] struct {
	States  []byte
	Oldest  int64
	Emitted []E
}

// MarshalBinary encodes the step.
func (s *stateStep[K, S, E]) MarshalBinary() ([]byte, error) {
	c, err := codec.For[stepFrame[E]]()
	if err != nil {
		return nil, fmt.Errorf("encode states: %w", err)
	}
	states, err := s.states.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return c.Append(nil, []stepFrame[E]{{States: states, Oldest: int64(s.oldest), Emitted: s.emitted}})
}

// UnmarshalBinary makes s the step that was encoded.
func (s *stateStep[K, S, E]) UnmarshalBinary(data []byte) error {
	c, err := codec.For[stepFrame[E]]()
	if err != nil {
		return fmt.Errorf("decode states: %w", err)
	}
	frames, err := c.Decode(data)
	if err != nil {
		return fmt.Errorf("decode states: %w", err)
	}
	if len(frames) != 1 {
		return fmt.Errorf("decode states: %w: %d records where there is one", codec.ErrCorrupt, len(frames))
	}
	s.states, s.oldest, s.emitted = new(state.Version[K, stamped[S]]), Time(frames[0].Oldest), frames[0].Emitted
	return s.states.UnmarshalBinary(frames[0].States)
}

package dstream

import "github.com/leat-io/leat/rdd"

// State is the state of one key as the function of a MapWithState sees it. It is good for that call of the function and
// must not be kept.
//
// The value that Get and Option return is the function's own, which may change it; what counts is what Update is given.
type State[S any] struct {
	value     S
	exists    bool
	updated   bool
	removed   bool
	timingOut bool
}

// Exists reports whether the key has state: it had it before the call and Remove was not called since, or Update was
// called.
func (s *State[S]) Exists() bool { return s.exists }

// Get returns the state.
//
// Errors: ErrNoState if there is none.
func (s *State[S]) Get() (S, error) {
	if !s.exists {
		var zero S
		return zero, ErrNoState
	}
	return s.value, nil
}

// Option returns the state, None if there is none.
func (s *State[S]) Option() rdd.Option[S] {
	if !s.exists {
		return rdd.Option[S]{}
	}
	return rdd.Option[S]{Value: s.value, OK: true}
}

// Update sets the state.
//
// Errors: ErrStateRemoved after Remove in the same call of the function; ErrStateTimingOut where IsTimingOut. The state
// is left as it is then.
func (s *State[S]) Update(value S) error {
	if err := s.settled(); err != nil {
		return err
	}
	s.value, s.exists, s.updated = value, true, true
	return nil
}

// Remove removes the state, also one that Update has just set; a key that has none may be removed.
//
// Errors: as Update.
func (s *State[S]) Remove() error {
	if err := s.settled(); err != nil {
		return err
	}
	var zero S
	s.value, s.exists, s.updated, s.removed = zero, false, false, true
	return nil
}

// IsTimingOut reports whether the function is called because the key has had no data for the time-out. Its state is
// removed after the call.
func (s *State[S]) IsTimingOut() bool { return s.timingOut }

// settled returns why the state can no longer be changed.
func (s *State[S]) settled() error {
	switch {
	case s.removed:
		return ErrStateRemoved
	case s.timingOut:
		return ErrStateTimingOut
	}
	return nil
}

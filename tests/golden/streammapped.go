package golden

import (
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

type (
	// mappedState is the state of a key.
	mappedState = dstream.State[Value]
	// mapFunc is a state function of mapWithState: it returns what it emits, and the misuse of a state that it did not avoid.
	mapFunc func(t dstream.Time, key Value, value rdd.Option[Value], s *mappedState) (state, error)
)

// nothing is what a function returns that emits nothing.
var nothing state

// mapped makes a mapWithState.
func (b *StreamBuilder) mapped(op StreamOperation, in *Stream) (*Stream, error) {
	f, plain, err := mapStateFunction(op.F)
	if err != nil {
		return nil, err
	}
	spec := dstream.NewTryStateSpec(f)
	switch op.Form {
	case "":
	case "plain":
		if plain == noPlain {
			return nil, &NotBuiltError{What: "state function", Name: op.F + " of form plain"}
		}
		if plain == plainAlways {
			spec = dstream.NewStateSpec(func(key Value, value rdd.Option[Value], s *mappedState) Value {
				x, err := f(0, key, value, s)
				if err != nil {
					panic(err)
				}
				return x.Value
			})
		}
	default:
		return nil, &NotBuiltError{What: "form of mapWithState", Name: op.Form}
	}
	if op.Num != nil {
		spec = spec.NumPartitions(*op.Num)
	}
	if op.P != "" {
		p, err := (&Builder{}).partitioner(op.P)
		if err != nil {
			return nil, err
		}
		spec = spec.Partitioner(p)
	}
	if op.Initial != nil {
		initial, err := b.initial(op)
		if err != nil {
			return nil, err
		}
		spec = spec.Initial(initial)
	}
	if op.Timeout != nil {
		spec = spec.Timeout(milliseconds(*op.Timeout))
	}
	m := dstream.MapWithState(in.Pairs(), spec)
	s := streamOfRows(m.DStream)
	s.snapshots = m.StateSnapshots
	return s, nil
}

// mapStateFunction returns the state function of mapWithState with that name, and whether it always emits and
// needs no time.
func mapStateFunction(f string) (fn mapFunc, plain plainness, err error) {
	if name, _ := split(f); name == "remove-at" {
		bound, err := number("state function", f)
		return removeAt(bound), noPlain, err
	}
	for _, known := range mapStateFunctions {
		if known.name == f {
			return known.f, known.plain, nil
		}
	}
	return nil, noPlain, &NotBuiltError{What: "state function", Name: f}
}

// plainness says whether a function can have the form plain.
type plainness int

const (
	noPlain     plainness = iota
	plainTries            // it may fail
	plainAlways           // it does not fail, so it has the form of the API that cannot
)

// mapStateFunctions are the state functions of mapWithState without a number in their name.
var mapStateFunctions = []struct {
	name  string
	plain plainness
	f     mapFunc
}{
	{"count", plainAlways, func(_ dstream.Time, k Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if s.IsTimingOut() {
			return keyed(k, Int(-1)), nil
		}
		x := plus(v, s)
		return keyed(k, x), s.Update(x)
	}},
	{"silent", noPlain, func(_ dstream.Time, _ Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if s.IsTimingOut() {
			return nothing, nil
		}
		return nothing, s.Update(plus(v, s))
	}},
	{"toggle", noPlain, func(_ dstream.Time, k Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if s.Exists() {
			return stateOf(k), s.Remove()
		}
		return nothing, s.Update(v.Value)
	}},
	{"peek", plainAlways, func(_ dstream.Time, k Value, _ rdd.Option[Value], s *mappedState) (state, error) {
		return keyed(k, stateOr(s, Int(-1))), nil
	}},
	{"expired", noPlain, func(_ dstream.Time, k Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if s.IsTimingOut() {
			return stateOf(k), nil
		}
		return nothing, s.Update(plus(v, s))
	}},
	{"expired-value", noPlain, func(t dstream.Time, k Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if s.IsTimingOut() {
			x, err := s.Get()
			return keyed(k, Tuple(x, Int(int64(t)/1000))), err
		}
		return nothing, s.Update(plus(v, s))
	}},
	{"once", noPlain, func(_ dstream.Time, k Value, v rdd.Option[Value], s *mappedState) (state, error) {
		switch {
		case s.IsTimingOut():
			return keyed(k, Int(-1)), nil
		case s.Exists():
			x, err := s.Get()
			return keyed(k, x), err
		}
		return nothing, s.Update(v.Value)
	}},
	{"update-remove", plainTries, func(_ dstream.Time, k Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if err := s.Update(v.Value); err != nil {
			return nothing, err
		}
		err := s.Remove()
		return keyed(k, oneIf(s.Exists())), err
	}},
	{"remove", plainTries, func(_ dstream.Time, k Value, _ rdd.Option[Value], s *mappedState) (state, error) {
		had := s.Exists()
		return keyed(k, oneIf(had)), s.Remove()
	}},
	{"time", noPlain, func(t dstream.Time, k Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if s.IsTimingOut() {
			return keyed(k, Tuple(Int(-1), Int(int64(t)))), nil
		}
		return keyed(k, Tuple(v.Value, Int(int64(t)))), s.Update(v.Value)
	}},
	{"get-unset", plainTries, func(_ dstream.Time, k Value, _ rdd.Option[Value], s *mappedState) (state, error) {
		x, err := s.Get()
		if err != nil {
			return nothing, err
		}
		return keyed(k, x), nil
	}},
	{"update-after-remove", plainTries, func(_ dstream.Time, k Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if err := updateRemove(v, s); err != nil {
			return nothing, err
		}
		return keyed(k, v.Value), s.Update(v.Value)
	}},
	{"remove-twice", plainTries, func(_ dstream.Time, k Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if err := updateRemove(v, s); err != nil {
			return nothing, err
		}
		return keyed(k, v.Value), s.Remove()
	}},
	{"update-expiring", noPlain, func(_ dstream.Time, _ Value, v rdd.Option[Value], s *mappedState) (state, error) {
		return nothing, s.Update(plus(v, s))
	}},
	{"remove-expiring", noPlain, func(_ dstream.Time, _ Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if s.IsTimingOut() {
			return nothing, s.Remove()
		}
		return nothing, s.Update(plus(v, s))
	}},
}

// removeAt removes the state once it would reach bound.
func removeAt(bound int64) mapFunc {
	return func(_ dstream.Time, k Value, v rdd.Option[Value], s *mappedState) (state, error) {
		if s.IsTimingOut() {
			return nothing, nil
		}
		x := plus(v, s)
		if integer(x) < bound {
			return nothing, s.Update(x)
		}
		if s.Exists() {
			return keyed(k, x), s.Remove()
		}
		return keyed(k, x), nil
	}
}

func updateRemove(v rdd.Option[Value], s *mappedState) error {
	if err := s.Update(v.Value); err != nil {
		return err
	}
	return s.Remove()
}

// plus is the value, 0 where there is none, and the state, or 0.
func plus(v rdd.Option[Value], s *mappedState) Value {
	var x int64
	if v.OK {
		x = integer(v.Value)
	}
	return Int(x + oldSum(s.Option()))
}

// stateOr is the state, or other if there is none.
func stateOr(s *mappedState, other Value) Value {
	if x := s.Option(); x.OK {
		return x.Value
	}
	return other
}

func oneIf(b bool) Value {
	if b {
		return Int(1)
	}
	return Int(0)
}

func keyed(k, v Value) state { return stateOf(Tuple(k, v)) }

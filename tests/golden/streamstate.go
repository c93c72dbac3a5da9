package golden

import (
	"context"
	"iter"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

type state = rdd.Option[Value]

// An updateFunc gives the new state of a key from the batch time, the values of the batch and the state
// before.
type updateFunc func(t dstream.Time, key Value, values []Value, old state) state

// stateful makes streams with a state by key, in the form of function that the case names.
func (b *StreamBuilder) stateful(_ context.Context, op StreamOperation, in []*Stream) (*Stream, error) {
	switch op.Op {
	case "mapWithState":
		return b.mapped(op, in[0])
	case "stateSnapshots":
		if in[0].snapshots == nil {
			return nil, &NotBuiltError{What: "stream operation", Name: "stateSnapshots of what is no mapWithState"}
		}
		return streamOfPairs(in[0].snapshots()), nil
	case "updateStateByKey":
	default:
		return nil, nil
	}
	update, needs, err := updateFunction(op.F)
	if err != nil {
		return nil, err
	}
	opts, err := b.stateOptions(op)
	if err != nil {
		return nil, err
	}
	switch op.Form {
	case "", "values":
		if needs {
			return nil, &NotBuiltError{What: "state function", Name: op.F + " without time and key"}
		}
		return streamOfPairs(dstream.UpdateStateByKey(in[0].Pairs(), func(values []Value, old state) state {
			return update(0, nil, values, old)
		}, opts...)), nil
	case "timed":
		return streamOfPairs(dstream.UpdateStateByKeyTimed(in[0].Pairs(), func(t dstream.Time, k Value, values []Value, old state) state {
			return update(t, k, values, old)
		}, opts...)), nil
	case "iter":
		return streamOfPairs(dstream.UpdateStateByKeyIter(in[0].Pairs(), iterated(update), opts...)), nil
	}
	return nil, &NotBuiltError{What: "form of updateStateByKey", Name: op.Form}
}

// iterated is the iterator form of a function.
func iterated(update updateFunc) func(dstream.Time, iter.Seq[dstream.StateInput[Value, Value, Value]]) iter.Seq[Pair] {
	return func(t dstream.Time, rows iter.Seq[dstream.StateInput[Value, Value, Value]]) iter.Seq[Pair] {
		return func(yield func(Pair) bool) {
			for x := range rows {
				if s := update(t, x.Key, x.Values, x.Old); s.OK && !yield(Pair{Key: x.Key, Value: s.Value}) {
					return
				}
			}
		}
	}
}

// stateOptions are the options of num, p, remember and initial.
func (b *StreamBuilder) stateOptions(op StreamOperation) ([]dstream.StateOption, error) {
	byKey, err := b.keyOptions(op)
	if err != nil {
		return nil, err
	}
	opts := []dstream.StateOption{dstream.StatePartitioned(byKey...)}
	if op.Remember != nil && !*op.Remember {
		opts = append(opts, dstream.ForgetPartitioner())
	}
	if op.Initial != nil {
		initial, err := b.initial(op)
		if err != nil {
			return nil, err
		}
		opts = append(opts, dstream.InitialState(initial))
	}
	return opts, nil
}

// initial returns the initial state of an operation that has one.
func (b *StreamBuilder) initial(op StreamOperation) (*rdd.RDD[Pair], error) {
	rows, err := ParseValues(*op.Initial)
	if err != nil {
		return nil, err
	}
	parts := 2
	if op.InitialParts != nil {
		parts = *op.InitialParts
	}
	pairs := make([]Pair, len(rows))
	for i, x := range rows {
		pairs[i] = pairOf(x)
	}
	return rdd.Parallelize(b.Context.RDDs(), pairs, parts), nil
}

func stateOf(v Value) state { return state{Value: v, OK: true} }

// updateFunction returns the state function with that name, and whether it needs time or key.
func updateFunction(f string) (update updateFunc, needs bool, err error) {
	name, _ := split(f)
	switch name {
	case "sum":
		return summing(func(sum int64) state { return stateOf(sum) }), false, nil
	case "sum-drop0":
		return summing(func(sum int64) state { return state{Value: sum, OK: sum != 0} }), false, nil
	case "fail-sum":
		bad, err := number("state function", f)
		return summing(func(sum int64) state {
			if sum == bad {
				panic("state " + Show(sum))
			}
			return stateOf(sum)
		}), false, err
	case "drop-idle":
		return func(_ dstream.Time, _ Value, values []Value, old state) state {
			return state{Value: oldSum(old) + sumOf(values), OK: len(values) > 0}
		}, false, nil
	case "calls":
		return func(_ dstream.Time, _ Value, _ []Value, old state) state { return stateOf(oldSum(old) + 1) }, false, nil
	case "max":
		return func(_ dstream.Time, _ Value, values []Value, old state) state {
			for _, v := range values {
				if !old.OK || Compare(v, old.Value) > 0 {
					old = stateOf(v)
				}
			}
			return old
		}, false, nil
	case "bag":
		return func(_ dstream.Time, _ Value, values []Value, old state) state {
			if old.OK {
				values = append(items(old.Value, bags), values...)
			}
			return stateOf(Bag(values...))
		}, false, nil
	case "idle":
		limit, err := number("state function", f)
		return idle(limit), false, err
	case "time-sum":
		return func(t dstream.Time, _ Value, values []Value, old state) state {
			if len(values) == 0 {
				return old
			}
			return stateOf(oldSum(old) + int64(t))
		}, true, nil
	case "key-even":
		return func(_ dstream.Time, k Value, values []Value, old state) state {
			return state{Value: oldSum(old) + sumOf(values), OK: floorMod(integer(k), 2) == 0}
		}, true, nil
	}
	return nil, false, &NotBuiltError{What: "state function", Name: f}
}

func summing(then func(sum int64) state) updateFunc {
	return func(_ dstream.Time, _ Value, values []Value, old state) state {
		return then(oldSum(old) + sumOf(values))
	}
}

// idle keeps the sum with the number of batches without values.
func idle(limit int64) updateFunc {
	return func(_ dstream.Time, _ Value, values []Value, old state) state {
		var sum, since int64
		if old.OK {
			a, b := pair(old.Value)
			sum, since = integer(a), integer(b)
		}
		if len(values) > 0 {
			return stateOf(Tuple(sum+sumOf(values), Int(0)))
		}
		return state{Value: Tuple(sum, since+1), OK: since+1 < limit}
	}
}

func oldSum(old state) int64 {
	if !old.OK {
		return 0
	}
	return integer(old.Value)
}

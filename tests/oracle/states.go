package oracle

import (
	"iter"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// beginning is the state that some steps start from.
func beginning() []rdd.Pair[string, past] {
	return []rdd.Pair[string, past]{
		{Key: "a", Value: past{Total: 5, Last: []int64{1, 2}}},
		{Key: "never seen", Value: past{Total: 7}},
	}
}

// An update is what one step does to the state of a key; the other way round it is what the user of
// a stream writes.
type update func(batch int64, key string, values []int64, old past, had bool) (past, bool)

// remembered evaluates states with a map from key to state. Where touched is set, only keys with
// values are updated.
func remembered(f func(s Step) update, initial []rdd.Pair[string, past], touched bool) func(Step, []Batch, int) []Batch {
	return func(s Step, in []Batch, slide int) []Batch {
		out := make([]Batch, len(in))
		var state map[string]past
		for now := slide; now < len(in); now += slide {
			if state == nil && !in[now].Present {
				continue
			}
			if state == nil {
				state = map[string]past{}
				for _, p := range initial {
					state[p.Key] = p.Value
				}
			}
			keys, values := group(in[now].Rows)
			if !touched {
				for k := range state {
					keys = append(keys, k)
				}
			}
			slices.Sort(keys)
			for _, k := range slices.Compact(keys) {
				old, had := state[k]
				old.Last = slices.Clone(old.Last)
				if next, ok := f(s)(int64(now), k, values[k], old, had); ok {
					state[k] = next
				} else {
					delete(state, k)
				}
			}
			out[now].Present = true
			for k, p := range state {
				out[now].Rows = append(out[now].Rows, Row{Key: k, Value: p.value()})
			}
			out[now].Rows = sorted(out[now].Rows)
		}
		return out
	}
}

func untimed(s Step) update {
	return func(_ int64, _ string, values []int64, old past, had bool) (past, bool) {
		return advance(s.Arg, 0, "", values, old, had)
	}
}

func timed(s Step) update {
	return func(batch int64, key string, values []int64, old past, had bool) (past, bool) {
		return advance(s.Arg, batch, key, values, old, had)
	}
}

func touched(Step) update {
	return func(_ int64, _ string, values []int64, old past, had bool) (past, bool) {
		return advanceTouched(values, old, had)
	}
}

// option turns a result of an update into what streams want.
func option(p past, ok bool) rdd.Option[past] {
	if !ok {
		return rdd.Option[past]{}
	}
	return rdd.Option[past]{Value: p, OK: true}
}

// states are the operations with state.
func states() []operation {
	all := []operation{{
		name: "updateStateByKey", history: remembered(untimed, nil, false),
		stream: func(b *builder, s Step, in ...stream) stream { return b.states(s, in[0], untimed) },
	}, {
		name: "updateStateByKeyInitial", history: remembered(untimed, beginning(), false),
		stream: func(b *builder, s Step, in ...stream) stream {
			initial := rdd.Parallelize(b.c, beginning(), s.parts())
			return b.states(s, in[0], untimed, dstream.InitialState(initial))
		},
	}, {
		name: "updateStateByKeyTouched", history: remembered(touched, beginning(), true),
		stream: func(b *builder, s Step, in ...stream) stream {
			initial := rdd.Parallelize(b.c, beginning(), 2)
			return b.states(s, in[0], touched, dstream.InitialState(initial), dstream.TouchedOnly())
		},
	}, {
		name: "updateStateByKeyTimed", history: remembered(timed, nil, false),
		stream: func(b *builder, s Step, in ...stream) stream {
			kept := dstream.UpdateStateByKeyTimed(in[0], func(t dstream.Time, k string, values []int64, old rdd.Option[past]) rdd.Option[past] {
				b.tick()
				return option(timed(s)(b.batchOf(t), k, values, old.Value, old.OK))
			}, dstream.StatePartitioned(s.options()...))
			b.checkpoint(kept, s.Every)
			return dstream.MapValues(kept, past.value)
		},
	}, {
		name: "updateStateByKeyIter", history: remembered(timed, nil, false),
		stream: func(b *builder, s Step, in ...stream) stream {
			kept := dstream.UpdateStateByKeyIter(in[0], func(t dstream.Time, keys iter.Seq[dstream.StateInput[string, int64, past]]) iter.Seq[rdd.Pair[string, past]] {
				return func(yield func(rdd.Pair[string, past]) bool) {
					for k := range keys {
						b.tick()
						p, ok := timed(s)(b.batchOf(t), k.Key, k.Values, k.Old.Value, k.Old.OK)
						if ok && !yield(rdd.Pair[string, past]{Key: k.Key, Value: p}) {
							return
						}
					}
				}
			}, dstream.StatePartitioned(s.options()...))
			b.checkpoint(kept, s.Every)
			return dstream.MapValues(kept, past.value)
		},
	}}
	for i := range all {
		all[i].inputs, all[i].family = 1, streamOnly
	}
	return all
}

// states declares UpdateStateByKey with a step's update.
func (b *builder) states(s Step, in stream, f func(Step) update, opts ...dstream.StateOption) stream {
	opts = append(opts, dstream.StatePartitioned(s.options()...))
	kept := dstream.UpdateStateByKey(in, func(values []int64, old rdd.Option[past]) rdd.Option[past] {
		b.tick()
		return option(f(s)(0, "", values, old.Value, old.OK))
	}, opts...)
	b.checkpoint(kept, s.Every)
	return dstream.MapValues(kept, past.value)
}

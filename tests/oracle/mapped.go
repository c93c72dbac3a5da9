package oracle

import (
	"slices"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// gathered is the state of a key after one more value. The order of the values makes no difference, since it depends on the
// partitions.
func (p past) gathered(v int64) past {
	p.Total += v
	p.Last = append(p.Last, v)
	slices.Sort(p.Last)
	if n := len(p.Last) - 4; n > 0 {
		p.Last = slices.Delete(p.Last, 0, n)
	}
	return p
}

// A mapping is what mapWithState does in one step.
type mapping struct {
	initial   bool
	times     bool // keys time out
	lazy      bool // states are updated by some values only, and not at all by others
	snapshots bool // the result is the states and not what is emitted
}

// timeout is after how many slides a key times out, 0 for never.
func (m mapping) timeout(s Step) int {
	if !m.times {
		return 0
	}
	return 1 + int(s.Arg%5)
}

// keeps reports whether a value is put into the state. It must not depend on what came before in the same batch, whose order
// is not fixed.
func (m mapping) keeps(v int64) bool { return !m.lazy || small(v)%3 != 0 }

// emits returns what is emitted for a value.
func (m mapping) emits(s Step, r Row) (Row, bool) {
	return Row{Key: r.Key, Value: scale(r.Value, s.Arg)}, passes(r, s.Arg)
}

// history evaluates the states with a map.
func (m mapping) history(s Step, in []Batch, slide int) []Batch {
	type kept struct {
		past past
		at   int
	}
	out := make([]Batch, len(in))
	states := map[string]kept{}
	if m.initial {
		for _, p := range beginning() {
			states[p.Key] = kept{p.Value, slide}
		}
	}
	every := s.Every
	if every == 0 {
		every = 10
	}
	timeout := m.timeout(s) * slide
	for now := slide; now < len(in); now += slide {
		var emitted []Row
		for _, r := range in[now].Rows {
			old, had := states[r.Key]
			switch {
			case m.keeps(r.Value):
				states[r.Key] = kept{past{old.past.Total, slices.Clone(old.past.Last)}.gathered(r.Value), now}
			case had && timeout > 0:
				states[r.Key] = kept{old.past, now}
			}
			if e, ok := m.emits(s, r); ok {
				emitted = append(emitted, e)
			}
		}
		if timeout > 0 && now/slide%every == 0 {
			for k, x := range states {
				if x.at < now-timeout {
					emitted = append(emitted, Row{Key: k, Value: x.past.value()})
					delete(states, k)
				}
			}
		}
		rows := emitted
		if m.snapshots {
			rows = nil
			for k, x := range states {
				rows = append(rows, Row{Key: k, Value: x.past.value()})
			}
		}
		out[now] = Batch{Present: true, Rows: sorted(rows)}
	}
	return out
}

// stream declares the states of a step.
func (m mapping) stream(b *builder, s Step, in ...stream) stream {
	spec := dstream.NewTryStateSpec(func(_ dstream.Time, key string, v rdd.Option[int64], state *dstream.State[past]) (rdd.Option[Row], error) {
		b.tick()
		old := state.Option()
		if state.IsTimingOut() {
			return rdd.Option[Row]{Value: Row{Key: key, Value: old.Value.value()}, OK: true}, nil
		}
		e, ok := m.emits(s, Row{Key: key, Value: v.Value})
		emitted := rdd.Option[Row]{Value: e, OK: ok}
		if !m.keeps(v.Value) {
			if len(old.Value.Last) > 0 {
				old.Value.Last[0] = missing // the function's own
			}
			return emitted, nil
		}
		return emitted, state.Update(old.Value.gathered(v.Value))
	})
	if s.Parts > 0 {
		spec = spec.NumPartitions(s.Parts)
	}
	if m.initial {
		spec = spec.Initial(rdd.Parallelize(b.c, beginning(), 2))
	}
	if n := m.timeout(s); n > 0 {
		spec = spec.Timeout(time.Duration(n) * in[0].Slide())
	}
	mapped := dstream.MapWithState(in[0], spec)
	b.checkpoint(mapped, s.Every)
	if m.snapshots {
		return dstream.MapValues(mapped.StateSnapshots(), past.value)
	}
	return mapped.DStream
}

// mappings are the operations of mapWithState.
func mappings() []operation {
	var all []operation
	for _, m := range []struct {
		name string
		mapping
	}{
		{"mapWithState", mapping{}},
		{"mapWithStateInitial", mapping{initial: true, snapshots: true}},
		{"mapWithStateTimeout", mapping{times: true}},
		{"mapWithStateTimeoutInitial", mapping{times: true, initial: true, lazy: true}},
		{"stateSnapshots", mapping{lazy: true, snapshots: true}},
		{"stateSnapshotsTimeout", mapping{times: true, lazy: true, snapshots: true}},
	} {
		all = append(all, operation{name: m.name, inputs: 1, family: streamOnly, fills: true, history: m.history, stream: m.stream})
	}
	return all
}

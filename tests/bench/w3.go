package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// stateCycle is how many batches of touches are made; later ones see them again.
const stateCycle = 20

// stateEvery is how many batches apart checkpoints are. A round is the batches in between.
const stateEvery = 10

// stateInput is keys with a count each, all 0 at first, and batches of touches.
type stateInput struct {
	keys    int
	touches [][]int64
	feed    feed[sumPair]
	initial [][]sumPair
}

func newStateInput(keys, perBatch, blocks int) (stateInput, error) {
	source, err := workload.NewTouches(workload.DefaultSeed, keys, perBatch)
	if err != nil {
		return stateInput{}, err
	}
	in := stateInput{keys: keys}
	var batches [][]sumPair
	for b := range stateCycle {
		touches := source.Append(nil, b)
		rows := make([]sumPair, len(touches))
		for i, k := range touches {
			rows[i] = sumPair{Key: k, Value: 1}
		}
		in.touches, batches = append(in.touches, touches), append(batches, rows)
	}
	in.feed = newFeed(batches, blocks)
	all := make([]sumPair, keys)
	for k := range all {
		all[k].Key = int64(k)
	}
	for i := range blocks {
		in.initial = append(in.initial, all[i*keys/blocks:(i+1)*keys/blocks])
	}
	return in, nil
}

// perBatch is the number of touches of a batch.
func (in stateInput) perBatch() int { return len(in.touches[0]) }

// want is the state after batches 0 to last.
func (in stateInput) want(last int) windowSum {
	counts := make([]int64, in.keys)
	for b := range last + 1 {
		for _, k := range in.touches[b%len(in.touches)] {
			counts[k]++
		}
	}
	var w windowSum
	for k, n := range counts {
		w = w.with(sumPair{Key: int64(k), Value: n})
	}
	return w
}

// stateKind is a way to keep the counts.
type stateKind struct {
	name    string
	declare func(s *stated, pairs *dstream.DStream[sumPair], initial *rdd.RDD[sumPair]) error
}

// The ways.
var (
	updateTouched = stateKind{"updateStateByKey, touched only", func(s *stated, pairs *dstream.DStream[sumPair], initial *rdd.RDD[sumPair]) error {
		return s.updated(dstream.UpdateStateByKey(pairs, countTouches, dstream.InitialState(initial), dstream.TouchedOnly()), stateEvery)
	}}
	updateAll = stateKind{"updateStateByKey, every key", func(s *stated, pairs *dstream.DStream[sumPair], initial *rdd.RDD[sumPair]) error {
		return s.updated(dstream.UpdateStateByKey(pairs, countTouches, dstream.InitialState(initial)), stateEvery)
	}}
	mapState = stateKind{"mapWithState", func(s *stated, pairs *dstream.DStream[sumPair], initial *rdd.RDD[sumPair]) error {
		return s.mapped(dstream.MapWithState(pairs, dstream.NewTimedStateSpec(mapTouches).Initial(initial)))
	}}
	mapStateTimeout = stateKind{"mapWithState, with a time-out", func(s *stated, pairs *dstream.DStream[sumPair], initial *rdd.RDD[sumPair]) error {
		return s.mapped(dstream.MapWithState(pairs, dstream.NewTimedStateSpec(mapTouches).Initial(initial).Timeout(1e6*batchInterval)))
	}}
)

func countTouches(values []int64, old rdd.Option[int64]) rdd.Option[int64] {
	for _, v := range values {
		old.Value += v
	}
	old.OK = true
	return old
}

func mapTouches(_ dstream.Time, _ int64, value rdd.Option[int64], s *dstream.State[int64]) rdd.Option[int64] {
	_ = s.Update(s.Option().Value + value.Value) // refused where the key is timing out, which none is
	return rdd.Option[int64]{}
}

// stated is a stream with state whose batches are measured.
type stated struct {
	*pump
	name       string
	in         stateInput
	last       *rdd.RDD[sumPair] // all states
	checkpoint timing            // what the last batch that was checkpointed cost
}

func newStated(kind stateKind, in stateInput, cores int, dir string) (*stated, error) {
	s := &stated{name: kind.name, in: in}
	var declared error
	pump, err := newPump(cores, dir, func(g *dstream.Graph) {
		pairs := dstream.NewInput(g, "feed", "Touches", dstream.Input[sumPair](in.feed))
		declared = kind.declare(s, pairs, rdd.FromBlocks(g.RDDs(), in.initial))
	})
	s.pump = pump
	return s, errors.Join(err, declared)
}

// updated declares the output of an updateStateByKey. It reads a row a partition, so that the states are computed and not
// passed over. There are so many batches between checkpoints.
func (s *stated) updated(states *dstream.DStream[sumPair], every int) error {
	dstream.ForeachRDD(states, func(ctx context.Context, r *rdd.RDD[sumPair], _ dstream.Time) error {
		s.last = r
		return r.ForeachPartition(ctx, func(_ context.Context, _ int, rows iter.Seq[sumPair]) error {
			for range rows {
				break
			}
			return nil
		})
	})
	return states.Checkpoint(time.Duration(every) * batchInterval)
}

// mapped declares the outputs of a mapWithState. What it emits is counted, which is nothing.
func (s *stated) mapped(m *dstream.StatefulDStream[int64, int64, int64]) error {
	dstream.ForeachRDD(m.DStream, func(ctx context.Context, r *rdd.RDD[int64], _ dstream.Time) error {
		_, err := r.Count(ctx)
		return err
	})
	dstream.ForeachRDD(m.StateSnapshots(), func(_ context.Context, r *rdd.RDD[sumPair], _ dstream.Time) error {
		s.last = r
		return nil
	})
	return m.Checkpoint(stateEvery * batchInterval)
}

// settle runs batches up to the one that is checkpointed, which is not measured with the others.
func (s *stated) settle(ctx context.Context) error {
	for (s.pump.last()+1)%stateEvery != 0 {
		wall, cpu := time.Now(), cpuTime()
		if err := s.batch(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		s.checkpoint = timing{cpu: cpuTime() - cpu, wall: time.Since(wall)}
	}
	return nil
}

func (s *stated) check(ctx context.Context) error {
	if err := s.settle(ctx); err != nil {
		return err
	}
	return s.checkState(ctx)
}

// checkState compares the states after the last batch with what they must be.
func (s *stated) checkState(ctx context.Context) error {
	got, err := rdd.Aggregate(ctx, s.last, windowSum{}, windowSum.with, windowSum.and)
	if err != nil {
		return err
	}
	if want := s.in.want(s.pump.last()); got != want {
		return fmt.Errorf("states after batch %d: got %+v, want %+v", s.pump.last(), got, want)
	}
	return nil
}

// subject measures batches: a pass is one.
func (s *stated) subject(ctx context.Context, cores, batches int) subject {
	return subject{name: s.name, procs: cores, work: s.batch, passes: batches, check: func() error { return s.check(ctx) }}
}

// stateMap is the same counts in a Go map, touched by a plain program.
func stateMap(in stateInput, cores, batches int) subject {
	m := peer.NewStateMap(in.keys)
	last := -1
	return subject{name: "StateMap", procs: cores, passes: batches, work: func(context.Context) error {
		last++
		m.Touch(in.touches[last%len(in.touches)])
		return nil
	}, check: func() error {
		var got windowSum
		for k, n := range m {
			got = got.with(sumPair{Key: k, Value: n})
		}
		if want := in.want(last); got != want {
			return fmt.Errorf("got %+v, want %+v", got, want)
		}
		return nil
	}}
}

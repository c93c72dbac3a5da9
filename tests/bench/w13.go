package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// lineageInput is the words of W13 in memory.
type lineageInput struct {
	source workload.Lineage
	words  []uint64
}

func newLineageInput(size workload.Size) (in lineageInput, err error) {
	in.source = workload.NewLineage(workload.DefaultSeed)
	in.words = make([]uint64, min(size.Records(), workload.LineageRecords))
	for i := range in.words {
		in.words[i] = in.source.V(i)
	}
	if len(in.words) < workload.LineageRecords {
		return in, nil
	}
	for _, steps := range workload.LineageLengths() {
		if want, ok := workload.LineageWant(steps); ok && in.want(steps) != want {
			return in, fmt.Errorf("%d steps give %x, want %x", steps, in.want(steps), want)
		}
	}
	return in, nil
}

// want is the XOR of all words after steps maps.
func (in lineageInput) want(steps int) uint64 { return in.source.Xor(len(in.words), steps) }

// chain is the words with steps maps behind them.
func (in lineageInput) chain(c *rdd.Context, steps int) *rdd.RDD[uint64] {
	return mapped(rdd.FromBlocks(c, cut(in.words)), steps)
}

func mapped(r *rdd.RDD[uint64], steps int) *rdd.RDD[uint64] {
	for range steps {
		r = rdd.Map(r, workload.LineageStep)
	}
	return r
}

// xorOf runs a job that combines all words.
func xorOf(ctx context.Context, r *rdd.RDD[uint64]) (uint64, error) {
	return r.Reduce(ctx, func(a, b uint64) uint64 { return a ^ b })
}

// planOnly runs a job on no partition: its graph is read and nothing is computed.
func planOnly[T any](ctx context.Context, r *rdd.RDD[T]) error {
	return rdd.RunJob(ctx, r, nil,
		func(context.Context, int, iter.Seq[T]) (int, error) {
			return 0, errors.New("no partition was asked for")
		},
		func(int, int) error { return nil })
}

// measureLineage measures W13: long lineages, and what is computed again when something is lost.
func measureLineage(ctx context.Context, s *suite) error {
	in, err := newLineageInput(s.size)
	if err != nil {
		return err
	}
	r := row{workload: "W13", size: s.size, records: len(in.words)}
	for _, cores := range s.cores {
		if err := s.onEngine(cores, func(e *engine) error {
			if s.wants("maps") {
				if err := measureMaps(ctx, s, r, in, e, cores); err != nil {
					return err
				}
			}
			if s.wants("plan") {
				if err := measurePlans(ctx, s, r, in, e, cores); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	r.cores = s.most()
	if s.wants("lost") {
		if err := measureLost(ctx, s, r, in); err != nil {
			return err
		}
	}
	if s.wants("running reduce") {
		return measureRunning(ctx, s, r)
	}
	return nil
}

// measureMaps measures chains of maps against the same functions called in loops.
func measureMaps(ctx context.Context, s *suite, r row, in lineageInput, e *engine, cores int) error {
	lengths := workload.LineageLengths()
	var subjects []subject
	for _, steps := range lengths {
		var got uint64
		want := in.want(steps)
		check := func() error {
			if got != want {
				return fmt.Errorf("got %x, want %x", got, want)
			}
			return nil
		}
		chain := in.chain(e.rdds, steps)
		calls := make([]func(uint64) uint64, steps)
		for i := range calls {
			calls[i] = workload.LineageStep
		}
		subjects = append(subjects,
			subject{name: fmt.Sprintf("%d maps", steps), procs: cores, check: check, work: func(ctx context.Context) (err error) {
				got, err = xorOf(ctx, chain)
				return err
			}},
			subject{name: "StepCalls", procs: cores, check: check, work: func(context.Context) error {
				got = peer.StepCalls(in.words, 512, calls)
				return nil
			}},
			subject{name: "StepLoop", procs: cores, check: check, work: func(context.Context) error {
				got = peer.StepLoop(in.words, steps)
				return nil
			}})
	}
	m, err := interleave(ctx, s.rounds, s.minRound/4, subjects...)
	if err != nil {
		return err
	}
	for i, steps := range lengths {
		f := floor{}
		if steps == 64 {
			f = atMost(1.2, 1.1)
		}
		r.variant = fmt.Sprintf("maps=%d", steps)
		s.table.add(compare(r, m[3*i], m[3*i+1], cpuOf, f))
		s.table.add(compare(r, m[3*i], m[3*i+2], cpuOf, floor{}))
	}
	return nil
}

// nestedZips is words zipped with themselves depth times.
func nestedZips(r *rdd.RDD[uint64], depth int, keep bool) *rdd.RDD[uint64] {
	for range depth {
		r = rdd.Map(rdd.Zip(r, r), func(p rdd.Pair[uint64, uint64]) uint64 { return p.Key + p.Value })
		if keep {
			r = r.Cache()
		}
	}
	return r
}

// zipDepth is how often an RDD is zipped with itself: 2^30 ways lead to its start.
const zipDepth = 30

// measurePlans measures what is done before the first task.
func measurePlans(ctx context.Context, s *suite, r row, in lineageInput, e *engine, cores int) error {
	r.records, r.cores = 1, cores
	plan := func(name string, build func(c *rdd.Context) *rdd.RDD[uint64], f floor) error {
		var built, planned time.Duration
		var times []timing
		m, err := interleave(ctx, s.rounds, s.minRound/4, subject{name: name, procs: cores,
			work: func(ctx context.Context) error {
				begin := time.Now()
				last := build(e.fresh())
				built = time.Since(begin)
				begin = time.Now()
				cpu := cpuTime()
				err := planOnly(ctx, last)
				planned = time.Since(begin)
				times = append(times, timing{cpu: cpuTime() - cpu, wall: planned})
				return err
			},
			check: func() error { return nil }})
		if err != nil {
			return err
		}
		r.variant, r.floor, r.rounds = name, f, len(m[0].rounds)
		r.cost = measured{rounds: times}.cost(wallOf)
		r.note = fmt.Sprintf("median, wall; building it %v more", micros(float64(built)))
		s.table.add(r)
		return nil
	}
	for _, steps := range workload.LineageLengths() {
		f := floor{}
		if steps == 1024 {
			f = within(20*time.Millisecond, 5*time.Millisecond)
		}
		if err := plan(fmt.Sprintf("plan, maps=%d", steps), func(c *rdd.Context) *rdd.RDD[uint64] { return in.chain(c, steps) }, f); err != nil {
			return err
		}
	}
	if err := plan("plan, 30 nested self-zips", func(c *rdd.Context) *rdd.RDD[uint64] {
		return nestedZips(rdd.FromBlocks(c, cut(in.words)), zipDepth, false)
	}, within(100*time.Millisecond, 10*time.Millisecond)); err != nil {
		return err
	}
	// With all of them kept the job can be run, and tasks are placed by what is kept where.
	var got, want uint64
	for _, x := range in.words {
		want ^= x << zipDepth
	}
	m, err := interleave(ctx, s.rounds, s.minRound/4, subject{name: "plan and run, 30 nested self-zips, each kept", procs: cores,
		work: func(ctx context.Context) (err error) {
			got, err = xorOf(ctx, nestedZips(rdd.FromBlocks(e.fresh(), cut(in.words)), zipDepth, true))
			return err
		},
		check: func() error {
			if got != want {
				return fmt.Errorf("got %x, want %x", got, want)
			}
			return nil
		}})
	if err != nil {
		return err
	}
	r.variant, r.floor, r.rounds, r.cost, r.note = m[0].name, floor{}, len(m[0].rounds), m[0].cost(cpuOf), "cost of a job"
	s.table.add(r)
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// measureReduce measures reduceByKey against one loop with a map: with a partition for each core, which
// is what RDDs have by default, and with four.
func measureReduce(ctx context.Context, s *suite) error {
	for _, keys := range []int{10_000, workload.ShuffleKeys} {
		for _, each := range []bool{true, false} {
			if err := measureReduceOf(ctx, s, keys, each); err != nil {
				return err
			}
		}
	}
	return nil
}

func measureReduceOf(ctx context.Context, s *suite, keys int, each bool) error {
	parts := func(int) int { return shuffleParts }
	name := fmt.Sprintf("K=%d, %d partitions", keys, shuffleParts)
	integers, texts := floor{}, floor{}
	if each {
		parts = func(cores int) int { return cores }
		name = fmt.Sprintf("K=%d", keys)
		if texts = atLeast(1.5, 3); keys == 10_000 {
			integers = atLeast(2, 4)
		}
	}
	if s.wants("integer keys") {
		in, err := newPairInput(workload.PairsOptions{Keys: keys}, 0, s.size.Records())
		if err != nil {
			return err
		}
		r := row{workload: "reduce", variant: "reduceByKey, integer keys, " + name, size: s.size, records: len(in.rows)}
		batches := [][]workload.Pair{in.plain}
		if err := s.versus(ctx, r, integers, func(e *engine, cores int) (subject, subject) {
			return in.reduced("leat", e, cores, parts(cores)), in.mapped("SumMap", cores, func() map[int64]int64 { return peer.SumMap(batches) })
		}); err != nil {
			return err
		}
	}
	if s.wants("text keys") {
		in, err := newTextPairs(s.size, keys)
		if err != nil {
			return err
		}
		r := row{workload: "reduce", variant: "reduceByKey, text keys, " + name, size: s.size, records: len(in.rows)}
		return s.versus(ctx, r, texts, func(e *engine, cores int) (subject, subject) {
			return in.reduced("leat", e, cores, parts(cores)), in.mapped("SumText", cores, func() map[string]int64 { return peer.SumText(in.plain) })
		})
	}
	return nil
}

// versus adds a row of leat against a peer on each number of cores.
func (s *suite) versus(ctx context.Context, r row, f floor, build func(e *engine, cores int) (leat, peer subject)) error {
	for _, cores := range s.cores {
		if err := s.onEngine(cores, func(e *engine) error {
			leat, plain := build(e, cores)
			m, err := interleave(ctx, s.rounds, s.minRound, leat, plain)
			if err != nil {
				return err
			}
			got := compare(r, m[0], m[1], cpuOf, f)
			if f.kind == noFloor {
				got = gain(r, m[0], m[1], cpuOf, f)
			}
			s.table.add(got)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// onEngine calls f with an engine of that many cores.
func (s *suite) onEngine(cores int, f func(e *engine) error) (err error) {
	e, err := newEngine(cores)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	return f(e)
}

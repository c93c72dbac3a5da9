package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// measureOverhead measures W7: what a batch costs before it does anything.
func measureOverhead(ctx context.Context, s *suite) error {
	cores := s.most()
	r := row{workload: "W7", size: s.size, cores: cores}
	if s.wants("empty batch") {
		if err := measureEmptyBatch(ctx, s, r, cores); err != nil {
			return err
		}
	}
	if s.wants("long run") {
		if err := measureLongRun(ctx, s, r, cores); err != nil {
			return err
		}
	}
	if s.wants("job") {
		return measureEmptyJobs(ctx, s, r, cores)
	}
	return nil
}

// measureEmptyJobs measures jobs without data and without a stream around them.
func measureEmptyJobs(ctx context.Context, s *suite, r row, cores int) (err error) {
	e, err := newEngine(cores)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	for _, job := range workload.Overheads() {
		if job.Tasks > 64 {
			continue
		}
		passes := max(1, s.overheadBatches()/max(1, job.Tasks))
		times := make([]time.Duration, 0, passes)
		var p50, p99 []float64
		var found int64
		ran := 0
		m, err := interleave(ctx, s.rounds, s.minRound,
			subject{
				name: job.String(), procs: cores, passes: passes,
				work: func(ctx context.Context) (err error) {
					begin := time.Now()
					found, err = emptyJob(e.fresh(), job).Count(ctx)
					times = append(times, time.Since(begin))
					return err
				},
				check: func() error {
					slices.Sort(times)
					p50 = append(p50, float64(percentile(times, 0.5)))
					p99 = append(p99, float64(percentile(times, 0.99)))
					times = times[:0]
					if found != 0 {
						return fmt.Errorf("got %d records, want none", found)
					}
					return nil
				},
			},
			subject{
				name: "EmptyTasks", procs: cores, passes: passes,
				work: func(context.Context) error {
					ran = peer.EmptyTasks(job)
					return nil
				},
				check: func() error {
					if ran != job.Stages*job.Tasks {
						return fmt.Errorf("%d tasks ran, want %d", ran, job.Stages*job.Tasks)
					}
					return nil
				},
			})
		if err != nil {
			return err
		}
		r.variant, r.records = "job, "+job.String(), 1
		row := compare(r, m[0], m[1], wallOf, floor{})
		row.cost, row.records = spreadOf(p50[1:]).median, passes // the first is the warm-up
		row.note = fmt.Sprintf("cost is p50, wall; p99 %v, cpu %v; ratio of means", micros(spreadOf(p99[1:]).median), micros(m[0].cost(cpuOf)))
		s.table.add(row)
	}
	return nil
}

// emptyJob is an RDD without records: of empty partitions, behind a shuffle where there are two stages.
func emptyJob(c *rdd.Context, job workload.Overhead) *rdd.RDD[sumPair] {
	pairs := rdd.FromBlocks(c, make([][]sumPair, job.Tasks))
	if job.Stages == 1 {
		return pairs
	}
	return rdd.ReduceByKey(pairs, add, rdd.NumPartitions(job.Tasks))
}

// overheadBatches is how many batches or jobs a round has.
func (s *suite) overheadBatches() int {
	switch {
	case s.size >= workload.M:
		return workload.OverheadBatches
	case s.size >= workload.S:
		return workload.OverheadQuick
	}
	return workload.OverheadQuick / 10
}

// longBatches is how many batches the long run has.
func (s *suite) longBatches() int {
	switch {
	case s.size >= workload.M:
		return workload.OverheadLongBatches
	case s.size >= workload.S:
		return workload.OverheadLongBatches / 10
	}
	return workload.OverheadLongBatches / 100
}

// micros prints ns in microseconds.
func micros(ns float64) string { return fmt.Sprintf("%.1fµs", ns/1000) }

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leat-io/leat/tests/bench/workload"
)

// measureTasks measures jobs without records: what one task more costs, and the job of one task.
func measureTasks(ctx context.Context, s *suite) error {
	for _, cores := range s.cores {
		if err := s.onEngine(cores, func(e *engine) error { return measureTasksOn(ctx, s, e, cores) }); err != nil {
			return err
		}
	}
	return nil
}

func measureTasksOn(ctx context.Context, s *suite, e *engine, cores int) error {
	jobs := workload.Overheads()
	subjects := make([]subject, len(jobs))
	p50 := make([][]float64, len(jobs)) // of each round, wall time of a job
	for i, job := range jobs {
		var times []time.Duration
		found := int64(-1)
		subjects[i] = subject{
			name: job.String(), procs: cores, passes: max(1, s.overheadBatches()/job.Tasks/job.Stages),
			work: func(ctx context.Context) (err error) {
				begin := time.Now()
				found, err = emptyJob(e.fresh(), job).Count(ctx)
				times = append(times, time.Since(begin))
				return err
			},
			check: func() error {
				slices.Sort(times)
				p50[i] = append(p50[i], float64(percentile(times, 0.5)))
				times = times[:0]
				if found != 0 {
					return fmt.Errorf("got %d records, want none", found)
				}
				return nil
			},
		}
	}
	m, err := interleave(ctx, s.rounds, s.minRound, subjects...)
	if err != nil {
		return err
	}
	for i, job := range jobs {
		r := row{workload: "overhead", size: s.size, cores: cores, records: 1, rounds: len(m[i].rounds)}
		if job.Tasks == 1 {
			r.variant = fmt.Sprintf("job of %d stage and 1 task in each", job.Stages)
			r.cost = spreadOf(p50[i][1:]).median // the first was the warm-up
			r.note = fmt.Sprintf("p50, wall; cpu %v", micros(m[i].cost(cpuOf)))
			if job.Stages == 1 {
				r.floor = within(30*time.Microsecond, 15*time.Microsecond)
			}
			s.table.add(r)
			continue
		}
		// What the job of one task costs is there anyhow.
		one := m[i-i%(len(jobs)/2)]
		more := job.Stages * (job.Tasks - 1)
		perTask := make([]float64, len(m[i].rounds))
		for k := range perTask {
			perTask[k] = float64(m[i].rounds[k].cpu-one.rounds[k].cpu) / float64(more)
		}
		r.variant = fmt.Sprintf("each task more, stages=%d/tasks=%d", job.Stages, job.Tasks)
		r.records, r.cost = more, spreadOf(perTask).median
		// With a shuffle between them, tasks look at the buckets of each other: what one costs grows with them.
		if job.Stages == 1 || job.Tasks <= 64 {
			r.floor = within(5*time.Microsecond, time.Microsecond)
		}
		r.note = fmt.Sprintf("job: p50 %v, wall", micros(spreadOf(p50[i][1:]).median))
		s.table.add(r)
	}
	return nil
}

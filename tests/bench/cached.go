package main

import (
	"context"
	"fmt"
	"time"

	"github.com/leat-io/leat/rdd"
)

// measureCached measures reading records that are kept, with a function of a chunk and of a record.
func measureCached(ctx context.Context, s *suite) error {
	in, err := newChainInput(s.size)
	if err != nil {
		return err
	}
	var want int64
	for _, x := range in.xs {
		want += x
	}
	for _, cores := range s.cores {
		if err := s.onEngine(cores, func(e *engine) error {
			cached := rdd.Map(in.rdd(e.rdds), func(x int64) int64 { return x }).Cache()
			var sum int64
			check := func() error {
				if sum != want {
					return fmt.Errorf("got sum %d, want %d", sum, want)
				}
				return nil
			}
			sumOf := func(name string, r *rdd.RDD[int64]) subject {
				return subject{name: name, procs: cores, check: check, work: func(ctx context.Context) (err error) {
					sum, err = rdd.Sum(ctx, r)
					return err
				}}
			}
			m, err := interleave(ctx, s.rounds, s.minRound,
				sumOf("chunks", sumsOfChunks(cached)), sumOf("records", cached),
				subject{name: "loop", procs: cores, check: check, work: func(context.Context) error {
					sum = 0
					for _, x := range in.xs {
						sum += x
					}
					return nil
				}})
			if err != nil {
				return err
			}
			r := row{workload: "cached", size: s.size, records: len(in.xs), variant: "read of kept integers, chunks"}
			first := compare(r, m[0], m[2], cpuOf, within(2*time.Nanosecond, time.Nanosecond))
			s.table.add(first)
			r.variant = "read of kept integers, records"
			s.table.add(compare(r, m[1], m[2], cpuOf, floor{}))
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// sumsOfChunks is the sum of each chunk.
func sumsOfChunks(r *rdd.RDD[int64]) *rdd.RDD[int64] {
	return rdd.MapChunks(r, func(in, out []int64) ([]int64, error) {
		var sum int64
		for _, x := range in {
			sum += x
		}
		return append(out, sum), nil
	})
}

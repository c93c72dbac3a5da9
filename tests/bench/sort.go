package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/workload"
)

// sortTimes is how many times as many records are sorted as the size has: 10 M at M.
const sortTimes = 10

// measureSort measures the sort of integers against slices.Sort of a copy.
func measureSort(ctx context.Context, s *suite) error {
	xs, err := workload.NewIntegers(workload.DefaultSeed).Append(nil, 0, sortTimes*s.size.Records())
	if err != nil {
		return err
	}
	want := slices.Clone(xs)
	slices.Sort(want)
	r := row{workload: "sort", size: s.size, records: len(xs)}
	for _, cores := range s.cores {
		if err := s.onEngine(cores, func(e *engine) error {
			var parts [][]int64
			var sorted []int64
			check := func() error {
				at := 0
				for _, part := range parts {
					for _, x := range part {
						if at == len(want) || x != want[at] {
							return fmt.Errorf("record %d is %d", at, x)
						}
						at++
					}
				}
				parts = nil
				if at != len(want) {
					return fmt.Errorf("%d records, want %d", at, len(want))
				}
				return nil
			}
			m, err := interleave(ctx, s.rounds, s.minRound,
				subject{name: "leat", procs: cores, check: check, work: func(ctx context.Context) error {
					sorted, err := rdd.SortBy(ctx, rdd.FromBlocks(e.fresh(), cut(xs)), func(x int64) int64 { return x })
					if err != nil {
						return err
					}
					parts, err = sorted.CollectPartitions(ctx)
					return err
				}},
				subject{name: "slices.Sort", procs: cores, check: check, work: func(context.Context) error {
					sorted = append(sorted[:0], xs...)
					slices.Sort(sorted)
					parts = [][]int64{sorted}
					return nil
				}})
			if err != nil {
				return err
			}
			r.variant = "sortBy of integers, per core"
			s.table.add(compare(r, m[0], m[1], cpuOf, atLeast(0.7, 1)))
			r.variant = "sortBy of integers, wall"
			s.table.add(gain(r, m[0], m[1], wallOf, floor{}))
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

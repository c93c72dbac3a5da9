package main

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// measureChainReduce measures the chain with its sum by key.
func measureChainReduce(ctx context.Context, s *suite, r row, e *engine, in chainInput, cores int) error {
	var pairs []rdd.Pair[int64, int64]
	var maps []map[int64]int64
	checkPairs := func() error {
		sums := make([]int64, workload.ChainKeys)
		for _, p := range pairs {
			sums[p.Key] += p.Value
		}
		return in.checkSums(sums)
	}
	checkMaps := func() error {
		sums := make([]int64, workload.ChainKeys)
		for _, m := range maps {
			for key, sum := range m {
				sums[key] += sum
			}
		}
		return in.checkSums(sums)
	}
	collect := func(name string, build func(ints *rdd.RDD[int64]) *rdd.RDD[rdd.Pair[int64, int64]]) subject {
		return subject{name: name, procs: cores, check: checkPairs, work: func(ctx context.Context) (err error) {
			pairs, err = build(in.rdd(e.fresh())).Collect(ctx)
			return err
		}}
	}
	m, err := interleave(ctx, s.rounds, s.minRound,
		collect("reduceByKey", chainPairs),
		collect("counts", func(ints *rdd.RDD[int64]) *rdd.RDD[rdd.Pair[int64, int64]] {
			return rdd.Counts(chainByRecord(ints), rdd.NumPartitions(chainParts))
		}),
		subject{name: "FusedMaps", procs: cores, check: checkMaps, work: func(context.Context) error {
			maps = peer.FusedMaps(in.xs, chainParts)
			return nil
		}},
	)
	if err != nil {
		return err
	}
	r.variant = "reduceByKey"
	s.table.add(compare(r, m[0], m[2], cpuOf, floor{}))
	r.variant = "reduceByKey as Counts"
	s.table.add(compare(r, m[1], m[2], cpuOf, floor{}))
	return nil
}

// chainPairs is the whole chain, with pairs of a key and 1.
func chainPairs(ints *rdd.RDD[int64]) *rdd.RDD[rdd.Pair[int64, int64]] {
	mapped := rdd.Map(ints, func(x int64) int64 { return x>>3 ^ x })
	kept := mapped.Filter(func(y int64) bool { return y&3 != 0 })
	pairs := rdd.FlatMapAppend(kept, func(y int64, out []rdd.Pair[int64, int64]) []rdd.Pair[int64, int64] {
		return append(out,
			rdd.Pair[int64, int64]{Key: y & 16383, Value: 1},
			rdd.Pair[int64, int64]{Key: y >> 20 & 16383, Value: 1})
	})
	return rdd.ReduceByKey(pairs, add, rdd.NumPartitions(chainParts))
}

func add(a, b int64) int64 { return a + b }

func (in chainInput) checkSums(sums []int64) error {
	if got := workload.SummarizeChain(sums); got != in.want.Sums {
		return fmt.Errorf("got sums %+v, want %+v", got, in.want.Sums)
	}
	return nil
}

// measureStages measures chains of nothing but map stages, to find what one of them costs.
func measureStages(ctx context.Context, s *suite, r row, e *engine, in chainInput, cores int) error {
	counts := []int{1, 2, 4, 8, 16}
	var sum int64
	base := peer.FusedIncrements(in.xs, 0)
	var subjects []subject
	for _, stages := range counts {
		check := func() error {
			if want := base + int64(stages*len(in.xs)); sum != want {
				return fmt.Errorf("got sum %d, want %d", sum, want)
			}
			return nil
		}
		chain := in.rdd(e.rdds)
		for range stages {
			chain = rdd.Map(chain, func(x int64) int64 { return x + 1 })
		}
		subjects = append(subjects,
			subject{name: fmt.Sprintf("%d maps", stages), procs: cores, check: check, work: func(ctx context.Context) (err error) {
				sum, err = rdd.Sum(ctx, chain)
				return err
			}},
			subject{name: "FusedIncrements", procs: cores, check: check, work: func(context.Context) error {
				sum = peer.FusedIncrements(in.xs, stages)
				return nil
			}})
	}
	m, err := interleave(ctx, s.rounds, s.minRound/2, subjects...)
	if err != nil {
		return err
	}
	for i, stages := range counts {
		r.variant = fmt.Sprintf("maps=%d", stages)
		s.table.add(compare(r, m[2*i], m[2*i+1], cpuOf, floor{}))
	}
	first, last := m[0], m[len(m)-2]
	r.variant, r.cores, r.rounds = "maps, each further", cores, len(first.rounds)
	r.cost = (last.cost(cpuOf) - first.cost(cpuOf)) / float64(len(in.xs)) / float64(counts[len(counts)-1]-counts[0])
	s.table.add(r)
	return nil
}

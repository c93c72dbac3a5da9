package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/keyed"
	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// measureShuffle measures W6: what moving records between tasks costs.
func measureShuffle(ctx context.Context, s *suite) error {
	for _, part := range []struct {
		name    string
		measure func(context.Context, *suite, row) error
	}{
		{"pairs", measurePairs}, {"partition sizes", measureSizes},
		{"reduceByKey", measureCombine}, {"repartition", measureRepartition},
	} {
		if s.wants(part.name) {
			if err := part.measure(ctx, s, row{workload: "W6", size: s.size, records: s.size.Records()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// shuffled are the engines that shuffles are measured on: one that hands blocks over as they are and one
// that sends them as bytes.
type shuffled struct{ inPlace, isolated *engine }

// onBoth calls f with both engines.
func (s *suite) onBoth(cores int, f func(shuffled) error) (err error) {
	isolated, err := newIsolated(cores)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, isolated.close()) }()
	return s.onEngine(cores, func(e *engine) error { return f(shuffled{e, isolated}) })
}

// measurePairs measures the way of pairs with text keys into n partitions: dealt, encoded, decoded and read.
func measurePairs(ctx context.Context, s *suite, r row) error {
	in, err := newTextPairs(s.size, workload.ShuffleKeys)
	if err != nil {
		return err
	}
	hasher, err := keyed.HasherFor[string]()
	if err != nil {
		return err
	}
	for _, cores := range s.cores {
		for _, n := range []int{4, 16, 64, 256} {
			if err := s.onBoth(cores, func(on shuffled) error { return measureDealt(ctx, s, r, in, on, hasher, cores, n) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func measureDealt(ctx context.Context, s *suite, r row, in textPairs, on shuffled, hasher *keyed.Hasher[string], cores, n int) error {
	place := func(key string) int { return hasher.Partition(key, n) }
	want := make([]int64, n)
	for _, p := range in.plain {
		want[place(p.Key)] += p.Value
	}
	if err := measurePacked(ctx, s, r, in, hasher, want, cores, n); err != nil {
		return err
	}
	var got []int64
	check := func() error {
		if !slices.Equal(got, want) {
			return fmt.Errorf("sums of partitions are %v, want %v", got, want)
		}
		return nil
	}
	dealt := func(name string, e *engine) subject {
		return subject{name: name, procs: cores, check: check, work: func(ctx context.Context) error {
			r := rdd.PartitionBy(in.rdd(e.fresh()), rdd.Hash[string](n))
			sums, err := sumsOfPairs(r).CollectPartitions(ctx)
			got = got[:0]
			for _, part := range sums {
				var sum int64
				for _, x := range part {
					sum += x
				}
				got = append(got, sum)
			}
			return err
		}}
	}
	parts := cut(in.plain)
	m, err := interleave(ctx, s.rounds, s.minRound,
		dealt("leat", on.isolated), dealt("leat in place", on.inPlace),
		subject{name: "MsgpackShuffle", procs: cores, check: check, work: func(context.Context) (err error) {
			got, _, err = peer.MsgpackShuffle(parts, n, place)
			return err
		}},
		subject{name: "Deal", procs: cores, check: check, work: func(context.Context) error {
			got = got[:0]
			for _, bucket := range peer.Deal(parts, n, func(p *workload.TextPair) int { return place(p.Key) }) {
				var sum int64
				for _, p := range bucket {
					sum += p.Value
				}
				got = append(got, sum)
			}
			return nil
		}})
	if err != nil {
		return err
	}
	r.variant = fmt.Sprintf("pairs, job of partitionBy, as bytes, P=%d", n)
	s.table.add(gain(r, m[0], m[2], cpuOf, floor{}))
	r.variant = fmt.Sprintf("pairs, job of partitionBy, in place, P=%d", n)
	s.table.add(gain(r, m[1], m[3], cpuOf, floor{}))
	return nil
}

// sumsOfPairs is the sum of the values of each chunk.
func sumsOfPairs(r *rdd.RDD[textPair]) *rdd.RDD[int64] {
	return rdd.MapChunks(r, func(in []textPair, out []int64) ([]int64, error) {
		var sum int64
		for i := range in {
			sum += in[i].Value
		}
		return append(out, sum), nil
	})
}

// measureSizes measures the deal of pairs with integer keys by a function of the program, and checks
// how many come where.
func measureSizes(ctx context.Context, s *suite, r row) error {
	place := func(key int64) int { return workload.MixPartition(key, workload.ShuffleSizes) }
	for _, o := range []workload.PairsOptions{{}, {Zipf: true}} {
		in, err := newPairInput(o, 0, s.size.Records())
		if err != nil {
			return err
		}
		want := make([]int64, workload.ShuffleSizes)
		for _, p := range in.plain {
			want[place(p.Key)]++
		}
		if sizes, ok := workload.ShuffleSizesWant(o); ok && s.size == workload.M {
			for i, n := range sizes {
				if want[i] != int64(n) {
					return fmt.Errorf("partition %d has %d pairs, want %d", i, want[i], n)
				}
			}
		}
		r.variant = "partition sizes, integer keys, uniform"
		if o.Zipf {
			r.variant = "partition sizes, integer keys, Zipf"
		}
		parts := cut(in.plain)
		if err := s.versus(ctx, r, floor{}, func(e *engine, cores int) (subject, subject) {
			var got []int64
			check := func() error {
				if !slices.Equal(got, want) {
					return fmt.Errorf("partitions have %v pairs, want %v", got, want)
				}
				return nil
			}
			return subject{name: "leat", procs: cores, check: check, work: func(ctx context.Context) (err error) {
					p := rdd.PartitionFunc("mix", workload.ShuffleSizes, place)
					got, err = rdd.CountPartitions(rdd.PartitionBy(in.rdd(e.fresh()), p)).Collect(ctx)
					return err
				}}, subject{name: "Deal", procs: cores, check: check, work: func(context.Context) error {
					got = got[:0]
					for _, bucket := range peer.Deal(parts, workload.ShuffleSizes, func(p *workload.Pair) int { return place(p.Key) }) {
						got = append(got, int64(len(bucket)))
					}
					return nil
				}}
		}); err != nil {
			return err
		}
	}
	return nil
}

// measureCombine measures the sum by key behind the shuffle, with and without combining before it.
func measureCombine(ctx context.Context, s *suite, r row) error {
	in, err := newTextPairs(s.size, workload.ShuffleKeys)
	if err != nil {
		return err
	}
	for _, cores := range s.cores {
		if err := s.onBoth(cores, func(on shuffled) error {
			m, err := interleave(ctx, s.rounds, s.minRound,
				in.reduced("reduceByKey, combined first, in place", on.inPlace, cores, shuffleParts),
				in.reduced("reduceByKey, combined first, as bytes", on.isolated, cores, shuffleParts),
				in.reduced("reduceByKey, all pairs sent, in place", on.inPlace, cores, shuffleParts, rdd.WithoutMapSideCombine()),
				in.reduced("reduceByKey, all pairs sent, as bytes", on.isolated, cores, shuffleParts, rdd.WithoutMapSideCombine()),
				in.mapped("SumText", cores, func() map[string]int64 { return peer.SumText(in.plain) }))
			if err != nil {
				return err
			}
			for _, x := range m[:4] {
				r.variant = x.name
				s.table.add(gain(r, x, m[4], cpuOf, floor{}))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// measureRepartition measures lines dealt out evenly and counted.
func measureRepartition(ctx context.Context, s *suite, r row) error {
	text, err := workload.NewText(workload.DefaultSeed, workload.TextOptions{})
	if err != nil {
		return err
	}
	lines := make([]string, s.size.Records())
	for i := range lines {
		lines[i] = text.Line(i)
	}
	for _, cores := range s.cores {
		if err := s.onBoth(cores, func(on shuffled) error {
			var got int64
			check := func() error {
				if got != int64(len(lines)) {
					return fmt.Errorf("%d lines, want %d", got, len(lines))
				}
				return nil
			}
			moved := func(name string, e *engine) subject {
				return subject{name: name, procs: cores, check: check, work: func(ctx context.Context) (err error) {
					got, err = rdd.FromBlocks(e.fresh(), cut(lines)).Repartition(shuffleParts).Count(ctx)
					return err
				}}
			}
			parts := cut(lines)
			m, err := interleave(ctx, s.rounds, s.minRound,
				moved("repartition of lines, in place", on.inPlace), moved("repartition of lines, as bytes", on.isolated),
				subject{name: "Deal", procs: cores, check: check, work: func(context.Context) error {
					got = 0
					next := 0
					for _, bucket := range peer.Deal(parts, shuffleParts, func(*string) int { next++; return next % shuffleParts }) {
						got += int64(len(bucket))
					}
					return nil
				}})
			if err != nil {
				return err
			}
			for _, x := range m[:2] {
				r.variant = x.name
				s.table.add(compare(r, x, m[2], cpuOf, floor{}))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

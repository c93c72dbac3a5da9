package main

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// joinInput is two sides with as many records as there are keys, so that a join of them has about as
// many rows, and what is to be kept of it.
type joinInput struct {
	left, right pairInput
	want        peer.JoinSum
}

func newJoinInput(size workload.Size) (in joinInput, err error) {
	n := size.Records()
	o := workload.PairsOptions{Keys: n}
	if in.left, err = newPairInput(o, 0, n); err != nil {
		return in, err
	}
	if in.right, err = newPairInput(o, n, 2*n); err != nil {
		return in, err
	}
	// Keys are small numbers, so a list for each of them is a recount in which nothing is hashed.
	values := make([][]int64, n)
	for _, p := range in.left.plain {
		values[p.Key] = append(values[p.Key], p.Value)
	}
	for _, p := range in.right.plain {
		for _, v := range values[p.Key] {
			in.want = in.want.Add(p.Key, v, p.Value)
		}
	}
	return in, nil
}

// measureJoin measures the join of two inputs against a join by a map.
func measureJoin(ctx context.Context, s *suite) error {
	in, err := newJoinInput(s.size)
	if err != nil {
		return err
	}
	for _, cores := range s.cores {
		if err := s.onEngine(cores, func(e *engine) error { return measureJoinOn(ctx, s, in, e, cores) }); err != nil {
			return err
		}
	}
	return nil
}

func measureJoinOn(ctx context.Context, s *suite, in joinInput, e *engine, cores int) error {
	var got peer.JoinSum
	check := func() error {
		if got != in.want {
			return fmt.Errorf("got %+v, want %+v", got, in.want)
		}
		return nil
	}
	peerOf := func(name string, join func(left, right []workload.Pair) peer.JoinSum) subject {
		return subject{name: name, procs: cores, check: check, work: func(context.Context) error {
			got = join(in.left.plain, in.right.plain)
			return nil
		}}
	}
	m, err := interleave(ctx, s.rounds, s.minRound,
		subject{name: "leat", procs: cores, check: check, work: func(ctx context.Context) (err error) {
			c := e.fresh()
			joined := rdd.Join(in.left.rdd(c), in.right.rdd(c), rdd.NumPartitions(shuffleParts))
			got, err = rdd.Aggregate(ctx, joined, peer.JoinSum{},
				func(s peer.JoinSum, p rdd.Pair[int64, rdd.Joined[int64, int64]]) peer.JoinSum {
					return s.Add(p.Key, p.Value.Left, p.Value.Right)
				},
				func(a, b peer.JoinSum) peer.JoinSum { return peer.JoinSum{Rows: a.Rows + b.Rows, Sum: a.Sum + b.Sum} })
			return err
		}},
		peerOf("MapJoin", peer.MapJoin), peerOf("ChainJoin", peer.ChainJoin))
	if err != nil {
		return err
	}
	r := row{workload: "join", variant: "join of as many by as many, integer keys", size: s.size, records: len(in.left.rows)}
	s.table.add(compare(r, m[0], m[1], cpuOf, atLeast(1.5, 3)))
	s.table.add(gain(r, m[0], m[2], cpuOf, floor{}))
	return nil
}

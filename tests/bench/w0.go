package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// chainParts is the number of partitions of the integers, and of reducers.
const chainParts = 4

// chainInput is the integers of a size and what the chain must find in them.
type chainInput struct {
	xs   []int64
	want workload.ChainAnswer
}

func newChainInput(size workload.Size) (chainInput, error) {
	want, ok := workload.ChainWant(size)
	if !ok {
		return chainInput{}, fmt.Errorf("no answer is known for size %s", size)
	}
	xs, err := workload.NewIntegers(workload.DefaultSeed).Append(make([]int64, 0, size), 0, size.Records())
	if err != nil {
		return chainInput{}, err
	}
	var xor int64
	for _, x := range xs {
		xor ^= x
	}
	if xor != want.Xor {
		return chainInput{}, fmt.Errorf("the integers combine to %x, want %x", xor, want.Xor)
	}
	return chainInput{xs: xs, want: want}, nil
}

// rdd is the integers in memory, in partitions that lie one behind the other.
func (in chainInput) rdd(c *rdd.Context) *rdd.RDD[int64] {
	blocks := make([][]int64, chainParts)
	for i := range blocks {
		blocks[i] = in.xs[i*len(in.xs)/chainParts : (i+1)*len(in.xs)/chainParts]
	}
	return rdd.FromBlocks(c, blocks)
}

// measureChain measures W0: what leat adds to a loop.
func measureChain(ctx context.Context, s *suite) (err error) {
	in, err := newChainInput(s.size)
	if err != nil {
		return err
	}
	for _, cores := range s.cores {
		if err := measureChainOn(ctx, s, in, cores); err != nil {
			return err
		}
	}
	return nil
}

func measureChainOn(ctx context.Context, s *suite, in chainInput, cores int) (err error) {
	e, err := newEngine(cores)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	r := row{workload: "W0", size: s.size, records: len(in.xs)}
	if s.wants("chain") {
		if err := measureNarrow(ctx, s, r, e, in, cores); err != nil {
			return err
		}
	}
	if s.wants("reduceByKey") {
		if err := measureChainReduce(ctx, s, r, e, in, cores); err != nil {
			return err
		}
	}
	if s.wants("maps") {
		return measureStages(ctx, s, r, e, in, cores)
	}
	return nil
}

// measureNarrow measures the chain without its reduce.
func measureNarrow(ctx context.Context, s *suite, r row, e *engine, in chainInput, cores int) error {
	var sum int64
	check := func() error {
		if sum != in.want.KeySum {
			return fmt.Errorf("got key sum %d, want %d", sum, in.want.KeySum)
		}
		return nil
	}
	ints := in.rdd(e.rdds)
	if err := checkPassed(ctx, ints, in.want.Passed); err != nil {
		return err
	}
	records, chunks := chainByRecord(ints), chainByChunk(ints)
	engineOf := func(name string, keys *rdd.RDD[int64]) subject {
		return subject{name: name, procs: cores, check: check, work: func(ctx context.Context) (err error) {
			sum, err = rdd.Sum(ctx, keys)
			return err
		}}
	}
	peerOf := func(name string, run func() int64) subject {
		return subject{name: name, procs: cores, check: check, work: func(context.Context) error {
			sum = run()
			return nil
		}}
	}
	funcs := peer.NarrowFuncs()
	m, err := interleave(ctx, s.rounds, s.minRound,
		engineOf("functions of a record", records),
		engineOf("functions of a chunk", chunks),
		peerOf("FusedChain", func() int64 { sum, _ := peer.FusedChain(in.xs); return sum }),
		peerOf("CallChain", func() int64 { sum, _ := peer.CallChain(in.xs, 0, funcs); return sum }),
		peerOf("ChunkChain", func() int64 { sum, _ := peer.ChunkChain(in.xs, 0); return sum }),
		peerOf("ChannelChain", func() int64 { sum, _ := peer.ChannelChain(in.xs, 0); return sum }),
	)
	if err != nil {
		return err
	}
	record, chunk, fused, call, chunked, channel := m[0], m[1], m[2], m[3], m[4], m[5]
	r.variant = "chain, functions of a record"
	s.table.add(compare(r, record, fused, cpuOf, atMost(3.5, 3)))
	s.table.add(compare(r, record, call, cpuOf, floor{}))
	// A pipeline of goroutines is there to use several cores; on one its channels are never contended.
	pipeline := floor{}
	if cores == s.most() {
		pipeline = atLeast(20, 20)
	}
	s.table.add(gain(r, record, channel, cpuOf, pipeline))
	r.variant = "chain, functions of a chunk"
	s.table.add(compare(r, chunk, fused, cpuOf, atMost(1.5, 1.3)))
	s.table.add(compare(r, chunk, chunked, cpuOf, floor{}))
	s.table.add(gain(r, chunk, channel, cpuOf, floor{}))
	return nil
}

// checkPassed checks how many records the chain's filter lets through, which the sum of the keys
// does not show.
func checkPassed(ctx context.Context, ints *rdd.RDD[int64], want int) error {
	for _, keys := range []*rdd.RDD[int64]{chainByRecord(ints), keysByChunk(ints)} {
		n, err := keys.Count(ctx)
		if err != nil {
			return err
		}
		if n != 2*int64(want) {
			return fmt.Errorf("wrong answer: %d keys, want two for each of %d records", n, want)
		}
	}
	return nil
}

// chainByRecord is the chain written with a function for each stage that knows one record.
func chainByRecord(ints *rdd.RDD[int64]) *rdd.RDD[int64] {
	mapped := rdd.Map(ints, func(x int64) int64 { return x>>3 ^ x })
	kept := mapped.Filter(func(y int64) bool { return y&3 != 0 })
	return rdd.FlatMapAppend(kept, func(y int64, out []int64) []int64 {
		return append(out, y&16383, y>>20&16383)
	})
}

// chainByChunk is the chain written with functions of chunks, the last of which adds up the keys.
func chainByChunk(ints *rdd.RDD[int64]) *rdd.RDD[int64] {
	return rdd.MapChunks(keysByChunk(ints), func(in, out []int64) ([]int64, error) {
		var sum int64
		for _, k := range in {
			sum += k
		}
		return append(out, sum), nil
	})
}

func keysByChunk(ints *rdd.RDD[int64]) *rdd.RDD[int64] {
	mapped := rdd.MapChunks(ints, func(in, out []int64) ([]int64, error) {
		out, to := grow(out, len(in))
		for i, x := range in {
			to[i] = x>>3 ^ x
		}
		return out, nil
	})
	kept := rdd.MapChunks(mapped, func(in, out []int64) ([]int64, error) {
		out, to := grow(out, len(in))
		n := 0
		for _, y := range in {
			to[n] = y // always, so that there is no branch to foresee
			if y&3 != 0 {
				n++
			}
		}
		return out[:len(out)-len(in)+n], nil
	})
	return rdd.MapChunks(kept, func(in, out []int64) ([]int64, error) {
		out, to := grow(out, 2*len(in))
		for i, y := range in {
			to[2*i] = y & 16383
			to[2*i+1] = y >> 20 & 16383
		}
		return out, nil
	})
}

// grow returns out with n records more, and those n.
func grow(out []int64, n int) (all, added []int64) {
	from := len(out)
	if cap(out)-from < n {
		out = append(make([]int64, 0, from+max(n, 2048)), out...)
	}
	out = out[:from+n]
	return out, out[from:]
}

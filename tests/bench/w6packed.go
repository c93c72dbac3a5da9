package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
	"github.com/leat-io/leat/tests/bench/peer"
)

// packed is the way of pairs through a shuffle by what the packages keyed and codec offer, without jobs:
// they are placed, dealt, encoded and decoded, in buffers that are used again.
type packed struct {
	hasher  *keyed.Hasher[string]
	codec   *codec.Codec[textPair]
	to      []uint32
	buckets [][]textPair
	sent    [][][]byte // by part and bucket
	rows    []textPair
	sums    []int64
}

func newPacked(hasher *keyed.Hasher[string], parts, n int) (*packed, error) {
	c, err := codec.For[textPair]()
	if err != nil {
		return nil, err
	}
	p := &packed{hasher: hasher, codec: c, buckets: make([][]textPair, n), sent: make([][][]byte, parts), sums: make([]int64, n)}
	for i := range p.sent {
		p.sent[i] = make([][]byte, n)
	}
	return p, nil
}

// shuffle returns the sum of the values in each partition, good until the next call.
func (p *packed) shuffle(parts [][]textPair) (sums []int64, err error) {
	const chunk = 512
	p.to = slices.Grow(p.to[:0], chunk)[:chunk]
	n := len(p.buckets)
	for i, rows := range parts {
		for b := range p.buckets {
			p.buckets[b] = p.buckets[b][:0]
		}
		for len(rows) > 0 {
			some := rows[:min(len(rows), chunk)]
			rows = rows[len(some):]
			keyed.PlacePairs(p.hasher, some, n, p.to[:len(some)])
			for j, b := range p.to[:len(some)] {
				p.buckets[b] = append(p.buckets[b], some[j])
			}
		}
		for b, bucket := range p.buckets {
			if p.sent[i][b], err = p.codec.Append(p.sent[i][b][:0], bucket); err != nil {
				return nil, err
			}
		}
	}
	clear(p.sums)
	for b := range p.sums {
		for i := range p.sent {
			if p.rows, err = p.codec.DecodeAppend(p.rows[:0], p.sent[i][b]); err != nil {
				return nil, err
			}
			for j := range p.rows {
				p.sums[b] += p.rows[j].Value
			}
		}
	}
	return p.sums, nil
}

// measurePacked measures what the packages make of a shuffle of pairs against msgpack, buffers being used
// again by both, and how many bytes go over.
func measurePacked(ctx context.Context, s *suite, r row, in textPairs, hasher *keyed.Hasher[string], want []int64, cores, n int) error {
	place := func(key string) int { return hasher.Partition(key, n) }
	var got []int64
	check := func() error {
		if !slices.Equal(got, want) {
			return fmt.Errorf("sums of partitions are %v, want %v", got, want)
		}
		return nil
	}
	rows, plain := cut(in.rows), cut(in.plain)
	p, err := newPacked(hasher, len(rows), n)
	if err != nil {
		return err
	}
	buffers := peer.NewMsgpackBuffers(len(plain), n)
	sent := 0
	m, err := interleave(ctx, s.rounds, s.minRound,
		subject{name: "leat", procs: cores, check: check, work: func(context.Context) (err error) {
			got, err = p.shuffle(rows)
			return err
		}},
		subject{name: "MsgpackBuffers", procs: cores, check: check, work: func(context.Context) (err error) {
			got, sent, err = buffers.Shuffle(plain, place)
			return err
		}})
	if err != nil {
		return err
	}
	r.variant = fmt.Sprintf("pairs, encode, partition and decode, P=%d", n)
	s.table.add(compare(r, m[0], m[1], cpuOf, atLeast(10, 20)))
	bytes := 0
	for _, part := range p.sent {
		for _, frame := range part {
			bytes += len(frame)
		}
	}
	r.variant, r.cores, r.rounds, r.peer = fmt.Sprintf("pairs, bytes a pair, P=%d", n), cores, len(m[0].rounds), "MsgpackBuffers"
	r.cost, r.ratio, r.floor = float64(bytes)/float64(len(in.rows)), same(float64(bytes)/float64(sent)), atMost(0.65, 0.6)
	r.note = "cost is bytes"
	s.table.add(r)
	return nil
}

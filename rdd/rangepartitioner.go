package rdd

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// RangePartitioner sends keys to partitions by order: partition i holds the keys up to its
// upper bound, the last one the rest. Descending, the partitions are in the opposite order.
type RangePartitioner[K any] struct {
	bounds  []K // ascending
	compare func(a, b K) int
	desc    bool
	natural bool // compare is Compare
}

// NumPartitions is one more than there are bounds.
func (p *RangePartitioner[K]) NumPartitions() int { return len(p.bounds) + 1 }

// Bounds returns the upper bounds, ascending. The slice must not be changed.
func (p *RangePartitioner[K]) Bounds() []K { return p.bounds }

// PartitionFor returns the partition whose range holds the key.
func (p *RangePartitioner[K]) PartitionFor(key K) int {
	i := sort.Search(len(p.bounds), func(i int) bool { return p.compare(key, p.bounds[i]) <= 0 })
	if p.desc {
		return len(p.bounds) - i
	}
	return i
}

// Equal reports whether other has the same bounds and direction.
func (p *RangePartitioner[K]) Equal(other AnyPartitioner) bool {
	if s, ok := other.(*savedPartitioner); ok {
		return s.Equal(p)
	}
	o, ok := other.(*RangePartitioner[K])
	return ok && p.desc == o.desc && slices.EqualFunc(p.bounds, o.bounds, func(a, b K) bool { return p.compare(a, b) == 0 })
}

// String returns "range:n".
func (p *RangePartitioner[K]) String() string { return fmt.Sprintf("range:%d", p.NumPartitions()) }

// sampled is a random part of one partition's keys and how many keys it stands for.
type sampled[K any] struct {
	count int64
	keys  []K
}

// candidate is a sampled key and how many keys it stands for.
type candidate[K any] struct {
	key    K
	weight float64
}

// rangeOver returns a range partitioner of about n partitions for the keys of r, from a sample
// of them: fewer where there are not enough different keys. n below 2 needs no sample and runs no job;
// otherwise one job samples every partition, and a second one those that turned out to be so large
// that their sample says too little. The samples are drawn from seeds made of r's id, so the same
// RDD gives the same bounds every time.
func rangeOver[T, K any](ctx context.Context, r *RDD[T], key func(T) K, n int, compare func(a, b K) int, desc bool) (*RangePartitioner[K], error) {
	p := &RangePartitioner[K]{compare: compare, desc: desc}
	parts, err := r.NumPartitions()
	if err != nil || n < 2 || parts == 0 {
		return p, err
	}
	target := min(20*float64(n), 1e6)
	reservoir := int(math.Ceil(3 * target / float64(parts)))
	samples, err := sampleKeys(ctx, r, key, allParts(parts), reservoir)
	if err != nil {
		return nil, err
	}
	var total float64
	for _, s := range samples {
		total += float64(s.count)
	}
	fraction := min(target/max(total, 1), 1)
	var candidates []candidate[K]
	var large []int
	for part, s := range samples {
		switch {
		case fraction*float64(s.count) > float64(reservoir):
			large = append(large, part)
		case len(s.keys) > 0:
			candidates = appendCandidates(candidates, s)
		}
	}
	if len(large) > 0 {
		// A larger reservoir for these holds as many keys as their share of the target asks for.
		var most int64
		for _, part := range large {
			most = max(most, samples[part].count)
		}
		again, err := sampleKeys(ctx, r, key, large, int(math.Ceil(fraction*float64(most))))
		if err != nil {
			return nil, err
		}
		for _, s := range again {
			candidates = appendCandidates(candidates, s)
		}
	}
	err = onCaller(&r.base, func() error { // compare is the program's
		p.bounds = boundsOf(candidates, n, compare)
		return nil
	})
	return p, err
}

func appendCandidates[K any](to []candidate[K], s sampled[K]) []candidate[K] {
	for _, k := range s.keys {
		to = append(to, candidate[K]{key: k, weight: float64(s.count) / float64(len(s.keys))})
	}
	return to
}

// boundsOf cuts weighted keys into at most n ranges of about equal weight.
func boundsOf[K any](candidates []candidate[K], n int, compare func(a, b K) int) []K {
	slices.SortStableFunc(candidates, func(a, b candidate[K]) int { return compare(a.key, b.key) })
	n = min(n, len(candidates))
	var total float64
	for _, c := range candidates {
		total += c.weight
	}
	step := total / float64(n)
	var bounds []K
	var passed float64
	next := step
	for _, c := range candidates {
		if len(bounds) >= n-1 {
			break
		}
		passed += c.weight
		if passed >= next && (len(bounds) == 0 || compare(c.key, bounds[len(bounds)-1]) > 0) {
			bounds = append(bounds, c.key)
			next += step
		}
	}
	return bounds
}

// sampleKeys draws up to size keys of each of the partitions, evenly, and counts them all.
func sampleKeys[T, K any](ctx context.Context, r *RDD[T], key func(T) K, parts []int, size int) ([]sampled[K], error) {
	out := make([]sampled[K], len(parts))
	err := runJob(ctx, r.subject(), "sample", parts, func(t *task, part int) (sampledRow[K], error) {
		var s sampledRow[K]
		at := place{node: &r.base, part: part}
		random := rand.New(rand.NewPCG(uint64(r.id.Ordinal), uint64(part)))
		err := r.push(t, part, func(chunk []T) error { return sampleChunk(&at, chunk, key, size, random, &s) })
		return s, err
	}, func(i int, s sampledRow[K]) error {
		out[i] = sampled[K]{count: s.Count, keys: s.Keys}
		return nil
	})
	return out, err
}

// sampledRow is sampled as it travels from a task.
type sampledRow[K any] struct {
	Count int64
	Keys  []K
}

// sampleChunk adds a chunk to a reservoir: every key seen so far is in it with the same chance.
func sampleChunk[T, K any](at *place, chunk []T, key func(T) K, size int, random *rand.Rand, s *sampledRow[K]) (err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	for ; i < len(chunk); i++ {
		s.Count++
		if len(s.Keys) < size {
			s.Keys = append(s.Keys, key(chunk[i]))
		} else if j := random.Int64N(s.Count); j < int64(size) {
			s.Keys[j] = key(chunk[i])
		}
	}
	at.seen += int64(len(chunk))
	return nil
}

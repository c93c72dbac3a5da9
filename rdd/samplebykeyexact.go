package rdd

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/leat-io/leat/rdd/keyed"
)

// SampleByKeyExact returns for each key exactly ceil(count*fraction) of its pairs, chosen at random, in order: any so many of
// them with the same chance without replacement, so many draws of one pair each with replacement.
//
// Shape: as SampleByKey.
// Cost: one job, at once, that counts each key in each partition; the counts are held in memory. Dealing a key's sample over
// n partitions draws log2(n) numbers for each of its records.
// Errors: as SampleByKey, a key without a fraction among them, from the counting job. Records that are not those that were
// counted fail the task.
func SampleByKeyExact[K comparable, V any](ctx context.Context, r *RDD[Pair[K, V]], withReplacement bool, fractions []Pair[K, float64], seed uint64) (*RDD[Pair[K, V]], error) {
	table, err := fractionTable(withReplacement, fractions)
	if err != nil {
		return nil, &BuildError{Op: "sampleByKeyExact", Site: r.ctx.callSite(), Err: err}
	}
	counts, err := countKeys(ctx, r, table)
	if err != nil {
		return nil, err
	}
	quotas := dealQuotas(table, counts, withReplacement, rand.New(rand.NewPCG(seed, ^uint64(seedStream))))
	randoms, clone := seeds(seed, r.NumPartitions), r.clone
	return pipe(r, "sampleByKeyExact", func(at *place, t *task, out sink[Pair[K, V]]) (sink[Pair[K, V]], func() error) {
		random, err := randoms(at.part)
		if err != nil {
			return func([]Pair[K, V]) error { return err }, nil
		}
		left := append([]quota(nil), quotas[at.part]...)
		copies := repeater[Pair[K, V]]{t: t, clone: clone, out: out}
		return func(in []Pair[K, V]) error {
			for i := range in {
				key, err := fractionOf(at, table, i, in[i].Key)
				if err != nil {
					return err
				}
				n, ok := left[key].take(random, withReplacement)
				if !ok {
					return at.failed(i, errRecount)
				}
				if err := copies.add(in[i], n); err != nil {
					return err
				}
			}
			at.seen += int64(len(in))
			return copies.flush()
		}, nil
	}).keep(r.partitioner), nil
}

var errRecount = errors.New("there are more records of the key than were counted")

// countKeys returns how many records of each key of table each partition has.
func countKeys[K comparable, V any](ctx context.Context, r *RDD[Pair[K, V]], table *keyed.Table[K, float64]) ([][]int64, error) {
	return everywhere(ctx, r.subject(), "sampleByKeyExact", func(t *task, part int) ([]int64, error) {
		at := place{node: &r.base, part: part}
		counts := make([]int64, table.Len())
		err := r.push(t, part, func(chunk []Pair[K, V]) error {
			for i := range chunk {
				key, err := fractionOf(&at, table, i, chunk[i].Key)
				if err != nil {
					return err
				}
				counts[key]++
			}
			at.seen += int64(len(chunk))
			return nil
		})
		return counts, err
	})
}

// quota is what one partition is to give of a key: want records of the left ones that are still to come.
type quota struct{ want, left int64 }

// take returns how often the next record is in the sample.
func (q *quota) take(random *rand.Rand, withReplacement bool) (n int, ok bool) {
	if q.left == 0 {
		return 0, false
	}
	switch {
	case withReplacement:
		hits := binomial(random, q.want, 1/float64(q.left))
		q.want -= hits
		n = int(hits)
	case random.Int64N(q.left) < q.want:
		q.want--
		n = 1
	}
	q.left--
	return n, true
}

// dealQuotas decides how many of each key's records come from which partition.
func dealQuotas[K comparable](table *keyed.Table[K, float64], counts [][]int64, withReplacement bool, random *rand.Rand) [][]quota {
	quotas := make([][]quota, len(counts))
	for part := range quotas {
		quotas[part] = make([]quota, table.Len())
	}
	own := make([]quota, len(counts)) // of one key, by partition
	for key := range table.Len() {
		var total int64
		for part := range counts {
			own[part] = quota{left: counts[part][key]}
			total += own[part].left
		}
		dealQuota(own, total, int64(math.Ceil(float64(total)*(*table.Value(key)))), withReplacement, random)
		for part := range counts {
			quotas[part][key] = own[part]
		}
	}
	return quotas
}

// dealQuota deals want draws over partitions that hold total records, halving the partitions until there is one.
func dealQuota(parts []quota, total, want int64, withReplacement bool, random *rand.Rand) {
	if len(parts) == 0 || want == 0 {
		return
	}
	if len(parts) == 1 {
		parts[0].want = want
		return
	}
	half := len(parts) / 2
	var first, hits int64
	for _, q := range parts[:half] {
		first += q.left
	}
	left := first // of the first half, not drawn yet
	for i := range want {
		if withReplacement {
			if random.Int64N(total) < first {
				hits++
			}
		} else if random.Int64N(total-i) < left {
			hits, left = hits+1, left-1
		}
	}
	dealQuota(parts[:half], first, hits, withReplacement, random)
	dealQuota(parts[half:], total-first, want-hits, withReplacement, random)
}

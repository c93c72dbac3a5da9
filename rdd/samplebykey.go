package rdd

import (
	"fmt"

	"github.com/leat-io/leat/rdd/keyed"
)

// SampleByKey returns a random part of the pairs, each key's in its own fraction, in order. It is Sample with a fraction for
// each key.
//
// Shape: as Sample; the partitioner is kept.
// Cost: as Sample, and one table probe a record.
// Errors: a fraction that is negative, no number, or above 1 (2^31 with replacement) is ErrArgument, and so is a key
// named twice; a record whose key has no fraction fails the task, as a *UserError with ErrArgument; a key type without
// value identity is keyed.ErrBadKeyType.
func SampleByKey[K comparable, V any](r *RDD[Pair[K, V]], withReplacement bool, fractions []Pair[K, float64], seed uint64) *RDD[Pair[K, V]] {
	table, err := fractionTable(withReplacement, fractions)
	if err != nil {
		return broken[Pair[K, V]](r.ctx, "sampleByKey", err).preferring(r.err)
	}
	randoms, clone := seeds(seed, r.NumPartitions), r.clone
	return pipe(r, "sampleByKey", func(at *place, t *task, out sink[Pair[K, V]]) (sink[Pair[K, V]], func() error) {
		random, err := randoms(at.part)
		if err != nil {
			return func([]Pair[K, V]) error { return err }, nil
		}
		var times []poisson // by the number of the key
		if withReplacement {
			for i := range table.Len() {
				times = append(times, newPoisson(*table.Value(i), random))
			}
		}
		copies := repeater[Pair[K, V]]{t: t, clone: clone, out: out}
		return func(in []Pair[K, V]) error {
			for i := range in {
				key, err := fractionOf(at, table, i, in[i].Key)
				if err != nil {
					return err
				}
				n := 0
				switch {
				case withReplacement:
					n = times[key].next()
				case random.Float64() < *table.Value(key):
					n = 1
				}
				if err := copies.add(in[i], n); err != nil {
					return err
				}
			}
			at.seen += int64(len(in))
			return copies.flush()
		}, nil
	}).keep(r.partitioner)
}

// fractionTable returns the fractions by key. It is only read afterwards, by all tasks.
func fractionTable[K comparable](withReplacement bool, fractions []Pair[K, float64]) (*keyed.Table[K, float64], error) {
	h, err := keyed.HasherFor[K]()
	if err != nil {
		return nil, err
	}
	table := keyed.New[K, float64](h, len(fractions))
	for _, f := range fractions {
		if err := h.Check(f.Key); err != nil {
			return nil, err
		}
		if err := checkFraction(withReplacement, f.Value); err != nil {
			return nil, fmt.Errorf("%w of key %v", err, f.Key)
		}
		i, fresh := table.Upsert(f.Key)
		if !fresh {
			return nil, fmt.Errorf("%w: two fractions of key %v", ErrArgument, f.Key)
		}
		*table.Value(i) = f.Value
	}
	return table, nil
}

// fractionOf returns the number of the key of record i in a table, or the error that it is not there.
func fractionOf[K comparable, V any](at *place, table *keyed.Table[K, V], i int, key K) (int, error) {
	if h := table.Hasher(); h.Dynamic() {
		if err := h.Check(key); err != nil {
			return 0, at.failed(i, err)
		}
	}
	n, ok := table.Find(key)
	if !ok {
		return 0, at.failed(i, fmt.Errorf("%w: key %v has no fraction", ErrArgument, key))
	}
	return n, nil
}

package rdd

import (
	"math"

	"github.com/leat-io/leat/rdd/keyed"
	"github.com/leat-io/leat/rdd/sketch"
)

// CountApproxDistinctByKey returns for each key about how many distinct values it has, with a relative standard error of
// relSD at most.
//
// Shape: as ReduceByKey.
// Cost: as ReduceByKey; a sketch for each key, of about (1.054/relSD)^2 bytes, less for few values.
// Errors: a relSD that is not above 0.000017 is sketch.ErrPrecision; a key or value type without value identity is
// keyed.ErrBadKeyType.
// Source: as package sketch.
func CountApproxDistinctByKey[K, V comparable](r *RDD[Pair[K, V]], relSD float64, opts ...KeyOption) *RDD[Pair[K, int64]] {
	p, err := sketch.PrecisionFor(relSD)
	if err != nil {
		return broken[Pair[K, int64]](r.ctx, "countApproxDistinctByKey", err).preferring(r.err)
	}
	return CountApproxDistinctByKeyPrecision(r, p, 0, opts...)
}

// CountApproxDistinctByKeyPrecision is CountApproxDistinctByKey with the precisions of CountApproxDistinctPrecision.
func CountApproxDistinctByKeyPrecision[K, V comparable](r *RDD[Pair[K, V]], p, sp int, opts ...KeyOption) *RDD[Pair[K, int64]] {
	const op = "countApproxDistinctByKey"
	none, err := sketch.New(p, sp)
	var h *keyed.Hasher[V]
	if err == nil {
		h, err = keyed.HasherFor[V]()
	}
	if err != nil {
		return broken[Pair[K, int64]](r.ctx, op, err).preferring(r.err)
	}
	hashes := hashValues(r, op, h)
	sketches := combine(hashes, op, combiner[Pair[K, uint64], K, sketch.HyperLogLog]{
		key: keyOf[K, uint64],
		add: func(t *keyed.Table[K, sketch.HyperLogLog], rows []Pair[K, uint64]) {
			keyed.Combine(t, rows, func(hash uint64) sketch.HyperLogLog {
				s := none
				s.Add(hash)
				return s
			}, func(s sketch.HyperLogLog, hash uint64) sketch.HyperLogLog {
				s.Add(hash)
				return s
			})
		},
		merge: func(a, b sketch.HyperLogLog) sketch.HyperLogLog {
			if err := a.Merge(&b); err != nil {
				panic(err) // reported as the task's: a block that was damaged on its way
			}
			return a
		},
	}, opts)
	return renamed(op, MapValues(sketches, func(s sketch.HyperLogLog) int64 { return int64(math.Round(s.Estimate())) }))
}

// hashValues returns every key with the hash of its value.
func hashValues[K, V comparable](r *RDD[Pair[K, V]], op string, h *keyed.Hasher[V]) *RDD[Pair[K, uint64]] {
	hashed := pipe(r, op, func(at *place, _ *task, out sink[Pair[K, uint64]]) (sink[Pair[K, V]], func() error) {
		var buf []Pair[K, uint64]
		return func(in []Pair[K, V]) error {
			buf = room(buf, len(in))
			for i := range in {
				hash, err := sketchHash(at, i, h, in[i].Value)
				if err != nil {
					return done(out, buf[:i], err)
				}
				buf[i] = Pair[K, uint64]{Key: in[i].Key, Value: hash}
			}
			at.seen += int64(len(in))
			return out(buf)
		}, nil
	})
	hashed.partitioner = r.partitioner
	return hashed
}

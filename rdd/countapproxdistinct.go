package rdd

import (
	"context"
	"math"

	"github.com/leat-io/leat/rdd/keyed"
	"github.com/leat-io/leat/rdd/sketch"
)

// CountApproxDistinct returns about how many distinct records there are, with a relative standard error of relSD at most:
// two estimates of three are that close.
//
// Order: none; the estimate depends on the set of records alone.
// Cost: one task a partition; a sketch of about (1.054/relSD)^2 bytes for each, less for few records.
// Errors: a relSD that is not above 0.000017 is a *BuildError with sketch.ErrPrecision; a type without value identity is
// keyed.ErrBadKeyType.
// Source: as package sketch.
func CountApproxDistinct[T comparable](ctx context.Context, r *RDD[T], relSD float64) (int64, error) {
	p, err := sketch.PrecisionFor(relSD)
	if err != nil {
		return 0, &BuildError{Op: "countApproxDistinct", Site: r.ctx.callSite(), Err: err}
	}
	return CountApproxDistinctPrecision(ctx, r, p, 0)
}

// CountApproxDistinctPrecision is CountApproxDistinct with 2^p registers, about 1.04/sqrt(2^p) of error. While a sketch has few
// records it tells them apart by sp bits, which makes small answers nearly exact; 0 takes p bits.
//
// Errors: sketch.ErrPrecision unless 4 <= p <= 32 and sp is 0 or in p..32; else as CountApproxDistinct.
func CountApproxDistinctPrecision[T comparable](ctx context.Context, r *RDD[T], p, sp int) (int64, error) {
	none, err := sketch.New(p, sp)
	var h *keyed.Hasher[T]
	if err == nil {
		h, err = keyed.HasherFor[T]()
	}
	if err != nil {
		return 0, &BuildError{Op: "countApproxDistinct", Site: r.ctx.callSite(), Err: err}
	}
	parts, err := everywhere(ctx, r.subject(), "countApproxDistinct", func(t *task, part int) (sketch.HyperLogLog, error) {
		at := place{node: &r.base, part: part}
		seen := none
		err := r.push(t, part, func(chunk []T) error {
			for i, x := range chunk {
				hash, err := sketchHash(&at, i, h, x)
				if err != nil {
					return err
				}
				seen.Add(hash)
			}
			at.seen += int64(len(chunk))
			return nil
		})
		return seen, err
	})
	if err != nil {
		return 0, err
	}
	all := none
	for i := range parts {
		if err := all.Merge(&parts[i]); err != nil {
			return 0, err
		}
	}
	return int64(math.Round(all.Estimate())), nil
}

// sketchHash returns the hash of record i with all its bits mixed: an integer's key hash is the integer itself.
func sketchHash[T comparable](at *place, i int, h *keyed.Hasher[T], x T) (uint64, error) {
	if h.Dynamic() {
		if err := h.Check(x); err != nil {
			return 0, at.failed(i, err)
		}
	}
	return scatter(h.Hash(x)), nil
}

// scatter spreads a hash over all 64 bits, one to one.
//
// Source: the finaliser of Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
func scatter(x uint64) uint64 {
	x += seedStream
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

package rdd

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// TakeSample returns n records chosen at random, in random order. Without replacement no record is chosen twice, and all
// are returned where there are no more than n; with replacement there are n unless r is empty.
//
// Cost: a job that counts, then one that samples a little more than n; seldom it takes another. n = 0 runs no job.
// Errors: a negative n is a *BuildError with ErrArgument.
func TakeSample[T any](ctx context.Context, r *RDD[T], withReplacement bool, n int, seed uint64) ([]T, error) {
	if n < 0 {
		return nil, &BuildError{Op: "takeSample", Site: r.ctx.callSite(), Err: fmt.Errorf("%w: %d records", ErrArgument, n)}
	}
	if n == 0 {
		return []T{}, r.err
	}
	total, err := r.Count(ctx)
	if err != nil || total == 0 {
		return []T{}, err
	}
	random := rand.New(rand.NewPCG(seed, seedStream))
	rows, err := chooseSome(ctx, r, withReplacement, n, total, random)
	if err != nil {
		return nil, err
	}
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows[:min(n, len(rows))], nil
}

// sampleTries is how often a sample may come out too small. Each does with a chance of one in ten thousand at most.
const sampleTries = 20

// chooseSome returns at least n of total records, or all.
func chooseSome[T any](ctx context.Context, r *RDD[T], withReplacement bool, n int, total int64, random *rand.Rand) ([]T, error) {
	if !withReplacement && int64(n) >= total {
		return flatCollect(ctx, r)
	}
	fraction := enough(withReplacement, float64(n), float64(total))
	for range sampleTries {
		rows, err := flatCollect(ctx, sample(r, withReplacement, fraction, random.Uint64()))
		if err != nil || len(rows) >= n {
			return rows, err
		}
	}
	return nil, fmt.Errorf("takeSample on %s: fewer than %d records in %d samples of %d: the records change from job to job",
		r.String(), n, sampleTries, total)
}

func flatCollect[T any](ctx context.Context, r *RDD[T]) ([]T, error) {
	parts, err := r.collect(ctx, "takeSample")
	all := []T{}
	for _, p := range parts {
		all = append(all, p...)
	}
	return all, err
}

// enough returns a fraction that gives at least n of total records with a chance of 0.9999. With replacement the number
// has a Poisson distribution, whose tail is that many standard deviations away; without, a binomial one, bounded by
// Chernoff's inequality.
func enough(withReplacement bool, n, total float64) float64 {
	if withReplacement {
		deviations := 6.0
		switch {
		case n < 6:
			deviations = 12
		case n < 16:
			deviations = 9
		}
		return (n + deviations*math.Sqrt(n)) / total
	}
	gamma := -math.Log(1e-4) / total
	fraction := n / total
	return min(1, fraction+gamma+math.Sqrt(gamma*gamma+2*gamma*fraction))
}

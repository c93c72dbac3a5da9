package rdd

import (
	"math"
	"math/rand/v2"
	"sync"
)

// seeds gives each partition a generator of its own: its seed is drawn from the user's seed in the order of the
// partitions, so that a partition draws the same numbers whenever and wherever it is computed.
func seeds(seed uint64, count func() (int, error)) func(part int) (*rand.Rand, error) {
	drawn := sync.OnceValues(func() ([]uint64, error) {
		n, err := count()
		if err != nil {
			return nil, err
		}
		source := rand.NewPCG(seed, seedStream)
		own := make([]uint64, n)
		for i := range own {
			own[i] = source.Uint64()
		}
		return own, nil
	})
	return func(part int) (*rand.Rand, error) {
		own, err := drawn()
		if err != nil {
			return nil, err
		}
		return rand.New(rand.NewPCG(seed, own[part])), nil
	}
}

// seedStream is the second half of the state that partition seeds are drawn from. Samples depend on it.
const seedStream = 0x9e3779b97f4a7c15

// poisson draws numbers with a Poisson distribution.
type poisson struct {
	mean   float64
	random *rand.Rand

	none                        float64 // exp(-mean), for small means
	root, a, b, accept, inverse float64 // for large ones
}

// manyEvents is the mean from which on rejection is faster than counting.
const manyEvents = 10

func newPoisson(mean float64, random *rand.Rand) poisson {
	p := poisson{mean: mean, random: random, none: math.Exp(-mean), root: math.Sqrt(mean)}
	p.b = 0.931 + 2.53*p.root
	p.a = -0.059 + 0.02483*p.b
	p.inverse = 1.1239 + 1.1328/(p.b-3.4)
	p.accept = 0.9277 - 3.6224/(p.b-2)
	return p
}

// next draws one number.
//
// Source: below manyEvents Knuth, "Seminumerical Algorithms", section on the Poisson distribution; above, algorithm PTRS of
// Hörmann, "The transformed rejection method for generating Poisson random variables", 1993.
func (p *poisson) next() int {
	if p.mean < manyEvents {
		n := 0
		for product := p.random.Float64(); product > p.none; n++ {
			product *= p.random.Float64()
		}
		return n
	}
	for {
		u, v := p.random.Float64()-0.5, p.random.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*p.a/us+p.b)*u + p.mean + 0.43)
		if us >= 0.07 && v <= p.accept {
			return int(k)
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		gamma, _ := math.Lgamma(k + 1)
		if math.Log(v*p.inverse/(p.a/(us*us)+p.b)) <= k*math.Log(p.mean)-p.mean-gamma {
			return int(k)
		}
	}
}

// binomial draws the number of successes in n trials of chance p, by the gaps between them.
func binomial(random *rand.Rand, n int64, p float64) int64 {
	if p >= 1 {
		return n
	}
	var hits, at int64
	for scale := math.Log1p(-p); ; hits++ {
		gap := math.Floor(math.Log(1-random.Float64()) / scale)
		if gap >= float64(n-at) {
			return hits
		}
		at += int64(gap) + 1
	}
}

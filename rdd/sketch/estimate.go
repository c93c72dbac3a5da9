package sketch

import "math"

// Estimate returns about how many distinct hashes were added, 0 for none.
//
// Cost: one pass over the entries or registers. Young entries are sorted in first.
// Errors: NaN for a sketch that Validate refuses.
func (h *HyperLogLog) Estimate() float64 {
	if h.Validate() != nil {
		return math.NaN()
	}
	h.settle()
	var counts [66]float64 // how many registers have each rank
	p := h.Precision
	if h.Registers == nil {
		p = h.SparsePrecision
		for _, e := range h.Entries {
			counts[e&rankMask]++
		}
		counts[0] = float64(uint64(1)<<p - uint64(len(h.Entries)))
	} else {
		for _, r := range h.Registers {
			counts[r]++
		}
	}
	m := float64(uint64(1) << p)
	if counts[0] == m {
		return 0
	}
	// Ranks run from 0, none, to q+1, no one bit at all.
	q := int(64 - p)
	z := m * tau(1-counts[q+1]/m)
	for k := q; k >= 1; k-- {
		z = 0.5 * (z + counts[k])
	}
	z += m * sigma(counts[0]/m)
	return m * m / (2 * math.Ln2 * z)
}

// StandardError returns the relative standard error of estimates with so many registers.
func StandardError(precision int) float64 { return 1.04 / math.Sqrt(math.Ldexp(1, precision)) }

// sigma corrects for registers that are still empty, a share x of all, below 1.
func sigma(x float64) float64 {
	y, z := 1.0, x
	for {
		x *= x
		before := z
		z += x * y
		y += y
		if z == before {
			return z
		}
	}
}

// tau corrects for registers at the highest rank; 1-x is their share.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		z -= (1 - x) * (1 - x) * y
		if z == before {
			return z / 3
		}
	}
}

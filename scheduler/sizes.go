package scheduler

import "math"

// Sizes are byte counts in one byte each: 0 for none, else the logarithm to base 1.1, rounded up, so
// that what is read back is at most a tenth too large and never 0 for something.
type Sizes []byte

// SizesOf returns counts as Sizes, nil if all are 0.
func SizesOf(counts []int64) Sizes {
	var s Sizes
	for i, n := range counts {
		if n <= 0 {
			continue
		}
		if s == nil {
			s = make(Sizes, len(counts))
		}
		s[i] = byte(min(max(math.Ceil(math.Log(float64(n))/logBase), 1), 255))
	}
	return s
}

var logBase = math.Log(1.1)

// Of returns the count at i, rounded up; 0 for any i outside the range.
func (s Sizes) Of(i int) int64 {
	if i < 0 || i >= len(s) || s[i] == 0 {
		return 0
	}
	return int64(math.Pow(1.1, float64(s[i])))
}

// Has reports whether the count at i is not 0.
func (s Sizes) Has(i int) bool { return i >= 0 && i < len(s) && s[i] != 0 }

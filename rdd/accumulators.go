package rdd

// A Tally is a sum and how many numbers it is of.
type Tally[N int64 | float64] struct {
	Sum   N
	Count int64
}

// Average returns the mean of the numbers, 0 for none.
func (t Tally[N]) Average() float64 {
	if t.Count == 0 {
		return 0
	}
	return float64(t.Sum) / float64(t.Count)
}

// A LongAccumulator sums and counts integers.
type LongAccumulator = Accumulator[int64, Tally[int64]]

// A DoubleAccumulator sums and counts floating-point numbers. How the sum rounds depends on the order in
// which tasks end.
type DoubleAccumulator = Accumulator[float64, Tally[float64]]

// A CollectionAccumulator collects values. Those of one task stay together, in order; tasks come in the order in which
// they end.
type CollectionAccumulator[T any] = Accumulator[T, []T]

// NewLongAccumulator returns an accumulator of integers. A name is shown to listeners; it may be empty.
//
// Errors: ErrStopped.
func NewLongAccumulator(c *Context, name string) (*LongAccumulator, error) {
	return NewAccumulator(c, name, zeroTally[int64], addTally[int64], mergeTallies[int64])
}

// NewDoubleAccumulator returns an accumulator of floating-point numbers. A name is shown to listeners; it may be
// empty.
//
// Errors: ErrStopped.
func NewDoubleAccumulator(c *Context, name string) (*DoubleAccumulator, error) {
	return NewAccumulator(c, name, zeroTally[float64], addTally[float64], mergeTallies[float64])
}

// NewCollectionAccumulator returns an accumulator that collects values. A name is shown to listeners; it may be
// empty.
//
// Cost: everything that is added comes to the program.
// Errors: ErrStopped.
func NewCollectionAccumulator[T any](c *Context, name string) (*CollectionAccumulator[T], error) {
	return NewAccumulator(c, name, func() []T { return nil },
		func(all []T, v T) []T { return append(all, v) },
		func(all, more []T) []T { return append(all, more...) })
}

func zeroTally[N int64 | float64]() Tally[N] { return Tally[N]{} }

func addTally[N int64 | float64](t Tally[N], n N) Tally[N] {
	return Tally[N]{Sum: t.Sum + n, Count: t.Count + 1}
}

func mergeTallies[N int64 | float64](a, b Tally[N]) Tally[N] {
	return Tally[N]{Sum: a.Sum + b.Sum, Count: a.Count + b.Count}
}

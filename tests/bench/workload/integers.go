package workload

// Integers is the input of the narrow chain (W0): non-negative 64-bit integers, evenly spread.
//
// The chain maps x to y = (x >> 3) XOR x, keeps y unless its two low bits are zero, turns it into
// the pairs (y AND 16383, 1) and ((y >> 20) AND 16383, 1), and sums the pairs of each key. With the
// sum left out, the sink adds up the keys instead, which leaves the cost of the chain alone.
type Integers struct{ stream Stream }

// ChainKeys is the number of keys the chain can produce: they are 0 to ChainKeys-1.
const ChainKeys = 16_384

// NewIntegers returns the integers of seed.
func NewIntegers(seed uint64) Integers {
	return Integers{stream: NewStream(seed, StreamIntegers)}
}

// X returns integer i.
func (n Integers) X(i int) int64 { return int64(n.stream.U(uint64(i), 0) >> 1) }

// Append returns dst with integers from to to-1 added.
//
// Errors: *RangeError unless 0 <= from <= to.
func (n Integers) Append(dst []int64, from, to int) ([]int64, error) {
	if err := checkRange(from, to); err != nil {
		return dst, err
	}
	for i := from; i < to; i++ {
		dst = append(dst, n.X(i))
	}
	return dst, nil
}

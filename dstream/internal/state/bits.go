package state

import mathbits "math/bits"

// bits is a set of entries.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

// set adds an entry and reports whether it is new.
func (b bits) set(i int) bool {
	was := b[i>>6]
	b[i>>6] = was | 1<<(i&63)
	return b[i>>6] != was
}

// each calls f with the entries in order.
func (b bits) each(f func(i int)) {
	for at, word := range b {
		for ; word != 0; word &= word - 1 {
			f(at<<6 + mathbits.TrailingZeros64(word))
		}
	}
}

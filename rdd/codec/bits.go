package codec

// boolColumn encodes bools as bits, the first in the lowest bit of the first byte. The unused bits of the last byte are zero.
type boolColumn struct{}

func (boolColumn) minBits() int { return 1 }

func (boolColumn) append(e *encoder, v view) error {
	var out []byte
	e.dst, out = extend(e.dst, bitBytes(v.n))
	clear(out)
	for i := range v.n {
		if *(*bool)(v.at(i)) {
			out[i>>3] |= 1 << (i & 7)
		}
	}
	return nil
}

func (boolColumn) decode(r *reader, v view) error {
	in, _, err := r.bits(v.n)
	if err != nil {
		return err
	}
	for i := range v.n {
		*(*bool)(v.at(i)) = bit(in, i)
	}
	return nil
}

func bitBytes(n int) int { return (n + 7) / 8 }

func bit(b []byte, i int) bool { return b[i>>3]>>(i&7)&1 == 1 }

// bits reads n bits and returns them with the number of ones.
func (r *reader) bits(n int) (in []byte, ones int, err error) {
	if in, err = r.take(bitBytes(n)); err != nil {
		return nil, 0, err
	}
	if rest := n & 7; rest != 0 && in[len(in)-1]>>rest != 0 {
		return nil, 0, r.corrupt("unused bits are set")
	}
	for _, b := range in {
		for ; b != 0; b &= b - 1 {
			ones++
		}
	}
	return in, ones, nil
}

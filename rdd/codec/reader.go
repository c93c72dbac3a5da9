package codec

import "encoding/binary"

// reader is a place in the content of a frame. The checksum is behind it, but a frame can be made with a right checksum
// and wrong content, so every read is checked and every allocation is first compared with the bytes that remain.
type reader struct {
	src   []byte
	off   int
	depth int // recursive types entered
}

func (r *reader) corrupt(reason string) error { return &CorruptError{Offset: r.off, Reason: reason} }

// need returns an error unless n values of at least bits bits each can still follow.
func (r *reader) need(n, bits int) error {
	if bits == 0 {
		return nil // no content, no memory
	}
	// Divided rather than multiplied: n*bits could overflow.
	if left := uint64(len(r.src)-r.off) * 8; uint64(n) > left/uint64(bits) {
		return r.corrupt("more values declared than bytes remain")
	}
	return nil
}

// take returns the next n bytes, which belong to the frame.
func (r *reader) take(n int) ([]byte, error) {
	if n < 0 || n > len(r.src)-r.off {
		return nil, r.corrupt("ends inside a column")
	}
	b := r.src[r.off : r.off+n]
	r.off += n
	return b, nil
}

// length reads one length. Lengths have one encoding only, the shortest, as a frame has to be canonical.
func (r *reader) length() (int, error) {
	if r.off < len(r.src) && r.src[r.off] < 0x80 {
		r.off++
		return int(r.src[r.off-1]), nil
	}
	x, n := binary.Uvarint(r.src[r.off:])
	switch {
	case n <= 0:
		return 0, r.corrupt("length is cut or too long")
	case r.src[r.off+n-1] == 0:
		return 0, r.corrupt("length is not in its shortest form")
	case x > maxRows:
		return 0, r.corrupt("length is over the limit of a frame")
	}
	r.off += n
	return int(x), nil
}

// lengths is a column of lengths that has been checked and can be read again without checks.
type lengths struct {
	src []byte
	pos int
}

// lengths reads n lengths and returns them with their sum. With a base of 1, length 0 stands for nil and k+1 for k.
func (r *reader) lengths(n, base int) (lengths, int, error) {
	if err := r.need(n, 8); err != nil {
		return lengths{}, 0, err
	}
	start, sum := r.off, uint64(0) // 64 bits hold the sum of as many one-byte lengths as there can be
	for _, b := range r.src[start : start+n] {
		if b >= 0x80 {
			break
		}
		sum += uint64(max(int(b)-base, 0))
		r.off++
	}
	for range n - (r.off - start) {
		k, err := r.length()
		if err != nil {
			return lengths{}, 0, err
		}
		sum += uint64(max(k-base, 0))
	}
	if sum > maxRows {
		return lengths{}, 0, r.corrupt("sum of lengths is over the limit of a frame")
	}
	return lengths{src: r.src[start:r.off]}, int(sum), nil
}

func (l *lengths) next() int {
	if b := l.src[l.pos]; b < 0x80 {
		l.pos++
		return int(b)
	}
	return l.long()
}

func (l *lengths) long() int {
	x, n := binary.Uvarint(l.src[l.pos:])
	l.pos += n
	return int(x)
}

func appendLength(dst []byte, n int) []byte {
	if n < 0x80 {
		return append(dst, byte(n))
	}
	return binary.AppendUvarint(dst, uint64(n))
}

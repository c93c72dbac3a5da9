package protocol

import "encoding/binary"

// reader takes encodings apart that consist of bytes, unsigned varints, and bytes behind their number. What it returns after
// something did not fit is zero.
type reader struct {
	rest []byte
	bad  bool // something did not fit
}

func (r *reader) byte() byte {
	if r.bad || len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if r.bad || size <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// bytes returns the next bytes, which share memory with the encoding.
func (r *reader) bytes() []byte {
	n := r.number()
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

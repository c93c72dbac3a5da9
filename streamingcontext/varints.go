package streamingcontext

import "encoding/binary"

// varintReader takes encodings apart that consist of varints. What it returns after something did not fit is zero.
type varintReader struct {
	rest []byte
	bad  bool // something did not fit
}

func (r *varintReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if r.bad || size <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *varintReader) signed() int64 {
	n, size := binary.Varint(r.rest)
	if r.bad || size <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

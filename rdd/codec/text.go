package codec

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// stringColumn encodes strings as a column of lengths and then the bytes of all. Any bytes are allowed.
type stringColumn struct{}

func (stringColumn) minBits() int { return 8 }

func (stringColumn) append(e *encoder, v view) error {
	total := 0
	for i := range v.n {
		n := len(*(*string)(v.at(i)))
		if n > maxRows-total {
			return limitError(n)
		}
		total += n
	}
	dst := slices.Grow(e.dst, v.n+total)
	for i := range v.n {
		dst = appendLength(dst, len(*(*string)(v.at(i))))
	}
	dst, out := extend(dst, total)
	pos := 0
	for i := range v.n {
		s := *(*string)(v.at(i))
		if n := len(s); n >= 8 && n <= 16 {
			// Two words that may overlap: cheaper than a call for the commonest lengths of keys.
			b := unsafe.Slice(unsafe.StringData(s), n)
			to := out[pos : pos+n]
			binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(b))
			binary.LittleEndian.PutUint64(to[n-8:], binary.LittleEndian.Uint64(b[n-8:]))
		} else {
			copy(out[pos:], s)
		}
		pos += len(s)
	}
	e.dst = dst
	return nil
}

func (stringColumn) decode(r *reader, v view) error {
	l, total, err := r.lengths(v.n, 0)
	if err != nil {
		return err
	}
	b, err := r.take(total)
	if err != nil {
		return err
	}
	text := string(b) // the one allocation: every string of the column is a part of it
	for i := range v.n {
		n := l.next()
		*(*string)(v.at(i)) = text[:n]
		text = text[n:]
	}
	return nil
}

// bytesColumn encodes byte slices as a column of lengths plus one, with 0 for nil, and then the bytes of all.
type bytesColumn struct{}

func (bytesColumn) minBits() int { return 8 }

func (bytesColumn) append(e *encoder, v view) error {
	total := 0
	for i := range v.n {
		n := len(*(*[]byte)(v.at(i)))
		if n > maxRows-total {
			return limitError(n)
		}
		total += n
	}
	dst := slices.Grow(e.dst, v.n+total)
	for i := range v.n {
		b := *(*[]byte)(v.at(i))
		n := len(b) + 1
		if b == nil {
			n = 0
		}
		dst = appendLength(dst, n)
	}
	for i := range v.n {
		dst = append(dst, *(*[]byte)(v.at(i))...)
	}
	e.dst = dst
	return nil
}

func (bytesColumn) decode(r *reader, v view) error {
	l, total, err := r.lengths(v.n, 1)
	if err != nil {
		return err
	}
	b, err := r.take(total)
	if err != nil {
		return err
	}
	all := append(make([]byte, 0, total), b...)
	for i := range v.n {
		n := l.next() - 1
		if n < 0 {
			continue
		}
		// The capacity ends with the row, so that an append to one row cannot reach the next.
		*(*[]byte)(v.at(i)) = all[:n:n]
		all = all[n:]
	}
	return nil
}

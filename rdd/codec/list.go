package codec

import (
	"fmt"
	"unsafe"
)

// listColumn encodes slices as a column of lengths plus one, with 0 for nil, and then one column of the elements of all.
type listColumn struct {
	elem  column
	elems elements
}

func (c *listColumn) minBits() int { return 8 }

// limitError says that n more values or bytes do not fit a column.
func limitError(n int) error {
	return fmt.Errorf("%d more values or bytes in a column that holds at most %d", n, maxRows)
}

func (c *listColumn) append(e *encoder, v view) error {
	total := 0
	for i := range v.n {
		s := *(*sliceHeader)(v.at(i))
		n := s.len + 1
		if s.data == nil {
			n = 0
		}
		if s.len > maxRows-total {
			return limitError(s.len)
		}
		total += s.len
		e.dst = appendLength(e.dst, n)
	}
	if total == 0 || c.elem.minBits() == 0 {
		return nil
	}
	if _, ok := c.elem.(fixedColumn); ok {
		// Numbers lie row after row in their column, so that each slice can be written where it is.
		return c.each(v, func(p unsafe.Pointer, n int) error {
			return c.elem.append(e, view{base: p, stride: c.elems.size, n: n})
		})
	}
	if v.n == 1 {
		s := *(*sliceHeader)(v.base)
		return c.elem.append(e, view{base: s.data, stride: c.elems.size, n: s.len})
	}
	g := c.elems.gather(total)
	if err := c.each(v, func(p unsafe.Pointer, n int) error { g.add(p, n); return nil }); err != nil {
		return err
	}
	return c.elem.append(e, g.view)
}

// each calls f for every slice that has elements.
func (c *listColumn) each(v view, f func(p unsafe.Pointer, n int) error) error {
	for i := range v.n {
		if s := *(*sliceHeader)(v.at(i)); s.len > 0 {
			if err := f(s.data, s.len); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *listColumn) decode(r *reader, v view) error {
	l, total, err := r.lengths(v.n, 1)
	if err != nil {
		return err
	}
	if err := r.need(total, c.elem.minBits()); err != nil {
		return err
	}
	all := c.elems.alloc(total)
	if total > 0 {
		if err := c.elem.decode(r, all); err != nil {
			return err
		}
	}
	pos := 0
	for i := range v.n {
		n := l.next() - 1
		if n < 0 {
			continue
		}
		data := all.base // for an empty slice: the end of the array would be the address of something else
		if n > 0 {
			data = all.at(pos)
		}
		*(*sliceHeader)(v.at(i)) = sliceHeader{data: data, len: n, cap: n}
		pos += n
	}
	return nil
}

package codec

import "unsafe"

// optionalColumn encodes pointers as one bit each, set when the pointer is not nil, and then one column of what the set ones
// point to.
type optionalColumn struct {
	elem  column
	elems elements
}

func (c *optionalColumn) minBits() int { return 1 }

func (c *optionalColumn) append(e *encoder, v view) error {
	var out []byte
	e.dst, out = extend(e.dst, bitBytes(v.n))
	clear(out)
	present, first := 0, unsafe.Pointer(nil)
	for i := range v.n {
		if p := *(*unsafe.Pointer)(v.at(i)); p != nil {
			if present == 0 {
				first = p
			}
			present++
			out[i>>3] |= 1 << (i & 7)
		}
	}
	switch {
	case present == 0 || c.elem.minBits() == 0:
		return nil
	case present == 1:
		return c.elem.append(e, view{base: first, stride: c.elems.size, n: 1})
	}
	g := c.elems.gather(present)
	for i := range v.n {
		if p := *(*unsafe.Pointer)(v.at(i)); p != nil {
			g.add(p, 1)
		}
	}
	return c.elem.append(e, g.view)
}

func (c *optionalColumn) decode(r *reader, v view) error {
	in, present, err := r.bits(v.n)
	if err != nil || present == 0 {
		return err
	}
	if err := r.need(present, c.elem.minBits()); err != nil {
		return err
	}
	all := c.elems.alloc(present)
	if err := c.elem.decode(r, all); err != nil {
		return err
	}
	next := 0
	for i := range v.n {
		if bit(in, i) {
			*(*unsafe.Pointer)(v.at(i)) = all.at(next)
			next++
		}
	}
	return nil
}

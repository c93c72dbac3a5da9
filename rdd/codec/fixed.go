package codec

import (
	"encoding/binary"
	"unsafe"
)

// fixedColumn encodes numbers, and arrays of numbers, at their full width, least byte first, row after row.
// int, uint and uintptr take 8 bytes on every platform. Floats are their bits, so that every NaN survives.
type fixedColumn struct {
	mem    int  // bytes of one number in memory: 1, 2, 4 or 8
	wire   int  // bytes of one number in the frame, at least mem
	signed bool // how to widen, when wire is more than mem
	count  int  // numbers in one value: 1, 2 for a complex number, or the length of an array
}

func (c fixedColumn) minBits() int { return 8 * c.wire * c.count }

// littleEndian reports whether memory has the byte order of a frame. It costs nothing once compiled.
func littleEndian() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}

// sameBytes reports whether a number has the same bytes in memory and in a frame.
func (c fixedColumn) sameBytes() bool { return c.mem == c.wire && littleEndian() }

func (c fixedColumn) append(e *encoder, v view) error {
	width := c.wire * c.count
	var out []byte
	e.dst, out = extend(e.dst, v.n*width)
	switch {
	case !c.sameBytes():
		c.widen(out, v)
	case v.stride == uintptr(width):
		copy(out, unsafe.Slice((*byte)(v.base), len(out)))
	case width == 8 && c.count == 1:
		for i := range v.n {
			binary.LittleEndian.PutUint64(out[i*8:], *(*uint64)(v.at(i)))
		}
	case width == 4 && c.count == 1:
		for i := range v.n {
			binary.LittleEndian.PutUint32(out[i*4:], *(*uint32)(v.at(i)))
		}
	case width == 1:
		for i := range out {
			out[i] = *(*byte)(v.at(i))
		}
	default:
		for i := range v.n {
			copy(out[i*width:], unsafe.Slice((*byte)(v.at(i)), width))
		}
	}
	return nil
}

func (c fixedColumn) decode(r *reader, v view) error {
	if err := r.need(v.n, c.minBits()); err != nil {
		return err
	}
	width := c.wire * c.count
	in, err := r.take(v.n * width)
	if err != nil {
		return err
	}
	switch {
	case !c.sameBytes():
		return c.narrow(r, in, v)
	case v.stride == uintptr(width):
		copy(unsafe.Slice((*byte)(v.base), len(in)), in)
	case width == 8 && c.count == 1:
		for i := range v.n {
			*(*uint64)(v.at(i)) = binary.LittleEndian.Uint64(in[i*8:])
		}
	case width == 4 && c.count == 1:
		for i := range v.n {
			*(*uint32)(v.at(i)) = binary.LittleEndian.Uint32(in[i*4:])
		}
	case width == 1:
		for i, b := range in {
			*(*byte)(v.at(i)) = b
		}
	default:
		for i := range v.n {
			copy(unsafe.Slice((*byte)(v.at(i)), width), in[i*width:])
		}
	}
	return nil
}

// widen writes the numbers of a platform whose byte order or int differs from the frame's.
func (c fixedColumn) widen(out []byte, v view) {
	for i := range v.n {
		for j := range c.count {
			x := c.load(unsafe.Add(v.at(i), j*c.mem))
			for k := range c.wire {
				out[k] = byte(x >> (8 * k))
			}
			out = out[c.wire:]
		}
	}
}

// narrow is the inverse of widen.
func (c fixedColumn) narrow(r *reader, in []byte, v view) error {
	for i := range v.n {
		for j := range c.count {
			x := uint64(0)
			for k := range c.wire {
				x |= uint64(in[k]) << (8 * k)
			}
			in = in[c.wire:]
			p := unsafe.Add(v.at(i), j*c.mem)
			c.store(p, x)
			if c.mem < c.wire && c.load(p) != x {
				return r.corrupt("number does not fit the int of this platform")
			}
		}
	}
	return nil
}

func (c fixedColumn) load(p unsafe.Pointer) uint64 {
	switch c.mem {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		if c.signed {
			return uint64(int64(*(*int32)(p)))
		}
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func (c fixedColumn) store(p unsafe.Pointer, x uint64) {
	switch c.mem {
	case 1:
		*(*uint8)(p) = uint8(x)
	case 2:
		*(*uint16)(p) = uint16(x)
	case 4:
		*(*uint32)(p) = uint32(x)
	default:
		*(*uint64)(p) = x
	}
}

package codec

import (
	"slices"
	"unsafe"
)

// A column encodes and decodes one value of each of n rows. It knows the memory layout of its values, not their Go type.
// It is never called for zero rows: a column of no values takes no bytes, which is also what ends recursive types.
type column interface {
	// minBits returns the fewest bits that one value takes, zero only for values without content.
	minBits() int
	append(e *encoder, v view) error
	// decode writes to memory that is zero.
	decode(r *reader, v view) error
}

// view is n values in memory, each stride bytes after the one before: a field of consecutive structs, or a plain slice.
type view struct {
	base   unsafe.Pointer
	stride uintptr
	n      int
}

// at returns the address of value i. The address is computed from the base each time, so that no pointer past the end of the
// rows ever exists.
func (v view) at(i int) unsafe.Pointer { return unsafe.Add(v.base, uintptr(i)*v.stride) }

// field returns the view of what lies offset bytes into each value.
func (v view) field(offset uintptr) view {
	v.base = unsafe.Add(v.base, offset)
	return v
}

// encoder is the frame under construction.
type encoder struct {
	dst   []byte
	depth int // recursive types entered
}

// extend adds n bytes of any content to dst and returns the new slice and those bytes.
func extend(dst []byte, n int) (all, added []byte) {
	start := len(dst)
	all = slices.Grow(dst, n)[:start+n]
	return all, all[start:]
}

// sliceHeader is the memory of a slice of any element type.
type sliceHeader struct {
	data unsafe.Pointer
	len  int
	cap  int
}

// emptyColumn is the column of values that have no content, such as struct{}: it takes no bytes.
type emptyColumn struct{}

func (emptyColumn) minBits() int                { return 0 }
func (emptyColumn) append(*encoder, view) error { return nil }
func (emptyColumn) decode(*reader, view) error  { return nil }

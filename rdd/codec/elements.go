package codec

import (
	"reflect"
	"unsafe"
)

// elements allocates and copies values of a type known at run time, with the write barriers their pointers need.
type elements struct {
	elem  reflect.Type
	slice reflect.Type
	size  uintptr
	plain bool // no pointers, and some content
}

func elementsOf(t reflect.Type) elements {
	return elements{elem: t, slice: reflect.SliceOf(t), size: t.Size(), plain: t.Size() > 0 && pointerFree(t)}
}

// pointerFree reports whether values of t hold no pointers, so that their memory may be allocated and copied as bytes.
func pointerFree(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() == 0 || pointerFree(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if !pointerFree(f.Type) {
				return false
			}
		}
		return true
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128
}

// make returns a new slice of n zero values and the view of it.
func (s elements) make(n int) (reflect.Value, view) {
	v := reflect.MakeSlice(s.slice, n, n)
	return v, view{base: v.UnsafePointer(), stride: s.size, n: n}
}

// alloc returns the view of n new zero values, the address of which is not nil even when n is zero.
func (s elements) alloc(n int) view {
	if s.plain {
		// Words are aligned for every type without pointers, and cheaper to get than a slice made by reflection.
		words := make([]uint64, (uintptr(n)*s.size+7)/8)
		return view{base: unsafe.Pointer(unsafe.SliceData(words)), stride: s.size, n: n}
	}
	_, v := s.make(n)
	return v
}

// copyPlain copies n values of a type without pointers.
func (s elements) copyPlain(dst, src unsafe.Pointer, n int) {
	size := uintptr(n) * s.size
	copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(src), size))
}

// gatherer collects scattered values into one slice of a fixed size. Its two headers are reused, so that a copy does not
// allocate.
type gatherer struct {
	elems    elements
	view     view
	filled   int
	dst, src sliceHeader
	dstValue reflect.Value
	srcValue reflect.Value
}

func (s elements) gather(total int) *gatherer {
	g := &gatherer{elems: s, view: s.alloc(total)}
	g.dstValue = reflect.NewAt(s.slice, unsafe.Pointer(&g.dst)).Elem()
	g.srcValue = reflect.NewAt(s.slice, unsafe.Pointer(&g.src)).Elem()
	return g
}

// add copies n values that start at p. n is at least 1 and the sum of all n at most the total.
func (g *gatherer) add(p unsafe.Pointer, n int) {
	to := g.view.at(g.filled)
	g.filled += n
	if g.elems.plain {
		g.elems.copyPlain(to, p, n)
		return
	}
	g.dst = sliceHeader{data: to, len: n, cap: n}
	g.src = sliceHeader{data: p, len: n, cap: n}
	reflect.Copy(g.dstValue, g.srcValue)
}

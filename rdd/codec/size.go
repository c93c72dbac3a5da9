package codec

import (
	"reflect"
	"unsafe"
)

// SizeFunc returns a function that estimates the bytes a value of T refers to, beyond its own size:
// the bytes of its strings, the elements of its slices and maps, what it points to. It is nil where that
// is nothing.
//
// Cost: a walk over the value. What several values share is counted for each; cycles are followed a
// few steps only.
func SizeFunc[T any]() func(*T) int64 {
	walk := sizer(reflect.TypeFor[T](), nil)
	if walk == nil {
		return nil
	}
	return func(x *T) int64 { return walk(unsafe.Pointer(x), 0) }
}

// Sized is implemented by types that say themselves how many bytes a value refers to, because values share what they
// hold or a walk over them would cost too much.
type Sized interface{ Footprint() int64 }

var sized = reflect.TypeFor[Sized]()

// walker returns what the value at p refers to. depth ends cycles.
type walker func(p unsafe.Pointer, depth int) int64

const maxSizeDepth = 8

// sizer returns the walker of a type, nil where its values refer to nothing. outer are the types it
// is inside of.
func sizer(t reflect.Type, outer []reflect.Type) walker {
	for _, o := range outer {
		if o == t { // recursive: found at run time, through reflection
			return func(p unsafe.Pointer, depth int) int64 { return reflected(reflect.NewAt(t, p).Elem(), depth) }
		}
	}
	if t.Implements(sized) && t.Kind() != reflect.Interface {
		return func(p unsafe.Pointer, _ int) int64 { return reflect.NewAt(t, p).Elem().Interface().(Sized).Footprint() }
	}
	outer = append(outer, t)
	switch t.Kind() {
	case reflect.String:
		return func(p unsafe.Pointer, _ int) int64 { return int64(len(*(*string)(p))) }
	case reflect.Slice:
		size, inner := int64(t.Elem().Size()), sizer(t.Elem(), outer)
		if inner == nil {
			return func(p unsafe.Pointer, _ int) int64 { return size * int64((*sliceHeader)(p).cap) }
		}
		return func(p unsafe.Pointer, depth int) int64 {
			h := (*sliceHeader)(p)
			sum := size * int64(h.cap)
			if depth < maxSizeDepth {
				for i := range h.len {
					sum += inner(unsafe.Add(h.data, i*int(size)), depth+1)
				}
			}
			return sum
		}
	case reflect.Array:
		inner := sizer(t.Elem(), outer)
		if inner == nil {
			return nil
		}
		size, n := t.Elem().Size(), t.Len()
		return func(p unsafe.Pointer, depth int) int64 {
			var sum int64
			for i := range n {
				sum += inner(unsafe.Add(p, uintptr(i)*size), depth)
			}
			return sum
		}
	case reflect.Struct:
		type field struct {
			at   uintptr
			walk walker
		}
		var fields []field
		for i := range t.NumField() {
			if w := sizer(t.Field(i).Type, outer); w != nil {
				fields = append(fields, field{t.Field(i).Offset, w})
			}
		}
		if fields == nil {
			return nil
		}
		return func(p unsafe.Pointer, depth int) int64 {
			var sum int64
			for _, f := range fields {
				sum += f.walk(unsafe.Add(p, f.at), depth)
			}
			return sum
		}
	case reflect.Pointer, reflect.Map, reflect.Interface:
		return func(p unsafe.Pointer, depth int) int64 { return reflected(reflect.NewAt(t, p).Elem(), depth) }
	}
	return nil
}

// reflected returns what a value refers to, for kinds that have no layout of their own.
func reflected(v reflect.Value, depth int) int64 {
	if depth >= maxSizeDepth {
		return 0
	}
	var sum int64
	switch v.Kind() {
	case reflect.String:
		return int64(v.Len())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			sum = int64(v.Cap()) * int64(v.Type().Elem().Size())
		}
		if sizer(v.Type().Elem(), nil) == nil {
			return sum
		}
		for i := range v.Len() {
			sum += reflected(v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			sum += reflected(v.Field(i), depth)
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return 0
		}
		e := v.Elem()
		return int64(e.Type().Size()) + reflected(e, depth+1)
	case reflect.Map:
		each := int64(v.Type().Key().Size()+v.Type().Elem().Size()) * 3 / 2
		sum = each * int64(v.Len())
		for it := v.MapRange(); it.Next(); {
			sum += reflected(it.Key(), depth+1) + reflected(it.Value(), depth+1)
		}
	}
	return sum
}

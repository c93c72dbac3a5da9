package keyed

import (
	"reflect"
	"sync"
	"unsafe"
)

// A leaf is how one piece of a key is read.
type leaf uint8

const (
	leafInt8 leaf = iota
	leafInt16
	leafInt32
	leafInt64
	leafUint8 // also bool
	leafUint16
	leafUint32
	leafUint64
	leafFloat32
	leafFloat64
	leafString
	leafBytes     // an array of bytes, hashed like a string of them
	leafInterface // any
	leafMethods   // an interface with methods
	leafArray     // n elements of a layout of their own
)

// A piece is one leaf at its place in the key.
type piece struct {
	leaf leaf
	off  uintptr
	n    int     // leafBytes, leafArray: number of elements
	size uintptr // leafArray: size of an element
	elem *layout // leafArray
}

// layout is a type taken apart once, so that no key of that type needs reflection. The pieces are the leaves of the type in
// order, nested structs opened; blank fields are left out, as == leaves them out.
type layout struct {
	pieces  []piece
	whole   leaf // top is set: the only leaf
	top     bool // the type itself is an integer, a string or an interface, and hashes by that leaf's own rule
	plain   bool // == is right and no value needs to be made canonical
	dynamic bool // there is an interface in it
	strings bool // there is a string in it
	types   *types
}

// types remembers the layouts of the dynamic types met in interface keys. It may be used from many goroutines.
type types struct {
	known sync.Map // reflect.Type to *layout, or to *KeyTypeError
}

// of returns the layout of the dynamic type t.
func (ts *types) of(t reflect.Type) (*layout, *KeyTypeError) {
	got, ok := ts.known.Load(t)
	if !ok {
		l, bad := newLayout(t, ts, "key.("+t.String()+")")
		if bad != nil {
			got, _ = ts.known.LoadOrStore(t, bad)
		} else {
			got, _ = ts.known.LoadOrStore(t, l)
		}
	}
	if bad, ok := got.(*KeyTypeError); ok {
		return nil, bad
	}
	return got.(*layout), nil
}

// newLayout takes t, found at path, apart.
func newLayout(t reflect.Type, ts *types, path string) (*layout, *KeyTypeError) {
	l := &layout{plain: true, types: ts}
	if bad := l.add(t, 0, path); bad != nil {
		return nil, bad
	}
	switch k := t.Kind(); {
	case k >= reflect.Int && k <= reflect.Uint64, k == reflect.String, k == reflect.Interface:
		l.top, l.whole = true, l.pieces[0].leaf
	}
	return l, nil
}

// add appends the leaves of t, which sits at off.
func (l *layout) add(t reflect.Type, off uintptr, path string) *KeyTypeError {
	one := func(k leaf) *KeyTypeError {
		l.pieces = append(l.pieces, piece{leaf: k, off: off})
		return nil
	}
	refuse := func(why string) *KeyTypeError {
		return &KeyTypeError{Type: t.String(), Path: path, Reason: why}
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return one(leafInt8 + log2(t.Size()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return one(leafUint8 + log2(t.Size()))
	case reflect.Bool:
		return one(leafUint8)
	case reflect.Float32:
		l.plain = false
		return one(leafFloat32)
	case reflect.Float64:
		l.plain = false
		return one(leafFloat64)
	case reflect.Complex64:
		l.plain = false
		l.pieces = append(l.pieces, piece{leaf: leafFloat32, off: off}, piece{leaf: leafFloat32, off: off + 4})
		return nil
	case reflect.Complex128:
		l.plain = false
		l.pieces = append(l.pieces, piece{leaf: leafFloat64, off: off}, piece{leaf: leafFloat64, off: off + 8})
		return nil
	case reflect.String:
		l.strings = true
		return one(leafString)
	case reflect.Interface:
		l.plain, l.dynamic, l.strings = false, true, true
		if t.NumMethod() == 0 {
			return one(leafInterface)
		}
		return one(leafMethods)
	case reflect.Struct:
		return l.addFields(t, off, path)
	case reflect.Array:
		return l.addElements(t, off, path)
	case reflect.Pointer, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
		return refuse("its equality is that of an address, which means nothing in another process")
	default:
		return refuse("it is not comparable")
	}
}

func (l *layout) addFields(t reflect.Type, off uintptr, path string) *KeyTypeError {
	for i := range t.NumField() {
		f := t.Field(i)
		kept := len(l.pieces)
		if bad := l.add(f.Type, off+f.Offset, path+"."+f.Name); bad != nil {
			return bad
		}
		if f.Name == "_" {
			l.pieces = l.pieces[:kept]
		}
	}
	return nil
}

func (l *layout) addElements(t reflect.Type, off uintptr, path string) *KeyTypeError {
	if t.Elem().Kind() == reflect.Uint8 {
		l.pieces = append(l.pieces, piece{leaf: leafBytes, off: off, n: t.Len()})
		return nil
	}
	elem := &layout{plain: true, types: l.types}
	if bad := elem.add(t.Elem(), 0, path+"[]"); bad != nil {
		return bad
	}
	l.plain = l.plain && elem.plain
	l.dynamic = l.dynamic || elem.dynamic
	l.strings = l.strings || elem.strings
	l.pieces = append(l.pieces, piece{leaf: leafArray, off: off, n: t.Len(), size: t.Elem().Size(), elem: elem})
	return nil
}

// log2 returns the place of an integer of that many bytes among its kin.
func log2(size uintptr) leaf {
	switch size {
	case 1:
		return 0
	case 2:
		return 1
	case 4:
		return 2
	default:
		return 3
	}
}

// isInt reports whether l is an integer.
func (l leaf) isInt() bool { return l <= leafUint64 }

// isSigned reports whether l is an integer that can be negative.
func (l leaf) isSigned() bool { return l <= leafInt64 }

// word returns the integer at p as 64 bits, its sign kept.
func (l leaf) word(p unsafe.Pointer) uint64 {
	switch l {
	case leafInt8:
		return uint64(*(*int8)(p))
	case leafInt16:
		return uint64(*(*int16)(p))
	case leafInt32:
		return uint64(*(*int32)(p))
	case leafUint8:
		return uint64(*(*uint8)(p))
	case leafUint16:
		return uint64(*(*uint16)(p))
	case leafUint32:
		return uint64(*(*uint32)(p))
	default:
		return *(*uint64)(p)
	}
}

// boxed returns the interface value at p.
func (l leaf) boxed(p unsafe.Pointer) any {
	if l == leafInterface {
		return *(*any)(p)
	}
	// Every interface with methods has the shape of every other; the methods are not called.
	return *(*interface{ isKey() })(p)
}

// contents returns where the value boxed in x lies. Types that an interface holds directly, without a box, are pointers in
// some guise, and those are refused as keys.
func contents(x *any) unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(x))[1]
}

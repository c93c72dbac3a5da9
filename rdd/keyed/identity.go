package keyed

import (
	"reflect"
	"strings"
	"unsafe"
)

// hash returns the hash of the value at p. A key that Check would refuse hashes as if it were nil there.
func (l *layout) hash(p unsafe.Pointer) uint64 {
	if l.top {
		return l.leafHash(l.whole, p)
	}
	return l.fold(hashC, p)
}

// leafHash returns the hash of the integer, string or interface at p by that leaf's own rule.
func (l *layout) leafHash(k leaf, p unsafe.Pointer) uint64 {
	switch k {
	case leafString:
		return hashString(*(*string)(p))
	case leafInterface, leafMethods:
		x := k.boxed(p)
		switch v := x.(type) { // the common ones need no look-up
		case nil:
			return 0
		case string:
			return hashString(v)
		case int:
			return uint64(v)
		case int64:
			return uint64(v)
		case float64:
			return hashLeaf(hashC, bits64(v))
		}
		in, bad := l.types.of(reflect.TypeOf(x))
		if bad != nil {
			return 0
		}
		return in.hash(contents(&x))
	default:
		return k.word(p)
	}
}

// fold carries h on over the leaves of the value at p.
func (l *layout) fold(h uint64, p unsafe.Pointer) uint64 {
	for i := range l.pieces {
		e := &l.pieces[i]
		q := unsafe.Add(p, e.off)
		switch e.leaf {
		case leafFloat32:
			h = hashLeaf(h, bits32(*(*float32)(q)))
		case leafFloat64:
			h = hashLeaf(h, bits64(*(*float64)(q)))
		case leafBytes:
			h = hashLeaf(h, hashString(unsafe.String((*byte)(q), e.n)))
		case leafArray:
			for j := range e.n {
				h = e.elem.fold(h, unsafe.Add(q, uintptr(j)*e.size))
			}
		default:
			h = hashLeaf(h, l.leafHash(e.leaf, q))
		}
	}
	return h
}

// equal reports whether the values at p and q are one key. A key that Check would refuse equals no key.
func (l *layout) equal(p, q unsafe.Pointer) bool {
	for i := range l.pieces {
		e := &l.pieces[i]
		a, b := unsafe.Add(p, e.off), unsafe.Add(q, e.off)
		same := true
		switch e.leaf {
		case leafFloat32:
			same = bits32(*(*float32)(a)) == bits32(*(*float32)(b))
		case leafFloat64:
			same = bits64(*(*float64)(a)) == bits64(*(*float64)(b))
		case leafString:
			same = *(*string)(a) == *(*string)(b)
		case leafBytes:
			same = unsafe.String((*byte)(a), e.n) == unsafe.String((*byte)(b), e.n)
		case leafInterface, leafMethods:
			same = l.equalBoxed(e.leaf.boxed(a), e.leaf.boxed(b))
		case leafArray:
			for j := 0; same && j < e.n; j++ {
				at := uintptr(j) * e.size
				same = e.elem.equal(unsafe.Add(a, at), unsafe.Add(b, at))
			}
		default:
			same = e.leaf.word(a) == e.leaf.word(b)
		}
		if !same {
			return false
		}
	}
	return true
}

func (l *layout) equalBoxed(x, y any) bool {
	t := reflect.TypeOf(x)
	if t != reflect.TypeOf(y) {
		return false
	}
	if t == nil {
		return true
	}
	in, bad := l.types.of(t)
	return bad == nil && in.equal(contents(&x), contents(&y))
}

// clean reports whether the value at p is canonical already.
func (l *layout) clean(p unsafe.Pointer) bool {
	if l.plain {
		return true
	}
	for i := range l.pieces {
		e := &l.pieces[i]
		q := unsafe.Add(p, e.off)
		ok := true
		switch e.leaf {
		case leafFloat32:
			ok = uint64(*(*uint32)(q)) == bits32(*(*float32)(q))
		case leafFloat64:
			ok = *(*uint64)(q) == bits64(*(*float64)(q))
		case leafArray:
			for j := 0; ok && j < e.n; j++ {
				ok = e.elem.clean(unsafe.Add(q, uintptr(j)*e.size))
			}
		case leafInterface, leafMethods:
			if x := e.leaf.boxed(q); x != nil {
				in, bad := l.types.of(reflect.TypeOf(x))
				ok = bad != nil || in.clean(contents(&x))
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// settle makes the value at p canonical in place, and with own also gives it string bytes of its own. The value must not be
// shared; values boxed in interfaces are, and are replaced.
func (l *layout) settle(p unsafe.Pointer, own bool) {
	for i := range l.pieces {
		e := &l.pieces[i]
		q := unsafe.Add(p, e.off)
		switch e.leaf {
		case leafFloat32:
			*(*uint32)(q) = uint32(bits32(*(*float32)(q)))
		case leafFloat64:
			*(*uint64)(q) = bits64(*(*float64)(q))
		case leafString:
			if own {
				*(*string)(q) = strings.Clone(*(*string)(q))
			}
		case leafArray:
			for j := range e.n {
				e.elem.settle(unsafe.Add(q, uintptr(j)*e.size), own)
			}
		case leafInterface, leafMethods:
			if x := e.leaf.boxed(q); x != nil {
				in, bad := l.types.of(reflect.TypeOf(x))
				if bad == nil && (own && in.strings || !in.clean(contents(&x))) {
					box := reflect.New(reflect.TypeOf(x))
					box.Elem().Set(reflect.ValueOf(x))
					in.settle(box.UnsafePointer(), own)
					// The type stays, so only the word that leads to the value changes.
					(*[2]unsafe.Pointer)(q)[1] = box.UnsafePointer()
				}
			}
		}
	}
}

// check returns why the value at p is no key, or nil. Only interfaces can make it one.
func (l *layout) check(p unsafe.Pointer) *KeyTypeError {
	if !l.dynamic {
		return nil
	}
	for i := range l.pieces {
		e := &l.pieces[i]
		q := unsafe.Add(p, e.off)
		switch e.leaf {
		case leafArray:
			for j := range e.n {
				if bad := e.elem.check(unsafe.Add(q, uintptr(j)*e.size)); bad != nil {
					return bad
				}
			}
		case leafInterface, leafMethods:
			x := e.leaf.boxed(q)
			if x == nil {
				continue
			}
			in, bad := l.types.of(reflect.TypeOf(x))
			if bad == nil {
				bad = in.check(contents(&x))
			}
			if bad != nil {
				return bad
			}
		}
	}
	return nil
}

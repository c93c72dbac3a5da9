package codec

import (
	"reflect"
	"sync"
	"unsafe"
)

// CloneFunc returns a function that makes deep copies of T, or nil when assignment already does: when T is made of numbers,
// bools, strings, and arrays and structs of those.
//
// Pointers, slices, maps and what interfaces hold are copied all the way; nil stays nil and empty stays empty. Values reached
// twice through the same pointer, map or slice are copied once, so that cycles keep their shape and end; only slices of plain
// values are copied for each way that leads to them. Channels, functions and unexported fields are copied by assignment, and so
// are types whose references are all unexported, such as time.Time. The capacity of a slice is cut to its length. A type that
// implements Immutable is shared, not copied.
//
// Cost: one allocation for each pointer, slice and map, and one table for each row that has pointers, maps, or slices of them.
func CloneFunc[T any]() func(T) T {
	var c cloner
	f := c.compile(reflect.TypeFor[T]())
	if f == nil {
		return nil
	}
	return func(row T) T {
		s := struct {
			cloning
			row T
		}{cloning{cloner: &c}, row}
		f.fix(&s.cloning, unsafe.Pointer(&s.row))
		return s.row
	}
}

// Immutable is implemented by types whose values never change once they are made, so that a copy may share them. The method
// is never called.
type Immutable interface{ Immutable() }

var immutable = reflect.TypeFor[Immutable]()

// fixer makes a value that was copied by assignment independent of the original.
type fixer struct {
	fix func(s *cloning, p unsafe.Pointer)
}

// cloner compiles fixers. Those of types found in interfaces are compiled when first met.
type cloner struct {
	open    map[reflect.Type]*fixer
	dynamic sync.Map // reflect.Type to *fixer
}

// cloning is one call of a clone function.
type cloning struct {
	cloner *cloner
	seen   map[visit]unsafe.Pointer // what was copied already, and its copy
}

// visit is a reference met before. An array and its first element have one address, so the type is part of it; so is the
// length, for slices.
type visit struct {
	p   unsafe.Pointer
	n   int
	typ reflect.Type
}

func (s *cloning) copyOf(v visit) (unsafe.Pointer, bool) {
	p, ok := s.seen[v]
	return p, ok
}

func (s *cloning) remember(v visit, p unsafe.Pointer) {
	if s.seen == nil {
		s.seen = make(map[visit]unsafe.Pointer)
	}
	s.seen[v] = p
}

// compile returns the fixer of t, or nil when t holds no reference.
func (c *cloner) compile(t reflect.Type) *fixer {
	if f, ok := c.open[t]; ok {
		return f // t inside itself: complete before it is called
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Struct, reflect.Array:
	default:
		return nil
	}
	if t.Kind() != reflect.Interface && t.Implements(immutable) {
		return nil
	}
	if c.open == nil {
		c.open = make(map[reflect.Type]*fixer)
	}
	f := &fixer{}
	c.open[t] = f
	defer delete(c.open, t)
	switch t.Kind() {
	case reflect.Pointer:
		f.fix = c.pointer(t)
	case reflect.Slice:
		f.fix = c.slice(t)
	case reflect.Map:
		f.fix = c.mapOf(t)
	case reflect.Interface:
		f.fix = fixInterface(t)
	case reflect.Struct:
		f.fix = c.structOf(t)
	case reflect.Array:
		f.fix = c.array(t)
	}
	if f.fix == nil {
		return nil
	}
	return f
}

func (c *cloner) pointer(t reflect.Type) func(*cloning, unsafe.Pointer) {
	elem := t.Elem()
	f := c.compile(elem)
	return func(s *cloning, p unsafe.Pointer) {
		old := *(*unsafe.Pointer)(p)
		if old == nil {
			return
		}
		v := visit{p: old, typ: t}
		if done, ok := s.copyOf(v); ok {
			*(*unsafe.Pointer)(p) = done
			return
		}
		copied := reflect.New(elem)
		copied.Elem().Set(reflect.NewAt(elem, old).Elem())
		*(*unsafe.Pointer)(p) = copied.UnsafePointer()
		s.remember(v, copied.UnsafePointer())
		if f != nil {
			f.fix(s, copied.UnsafePointer())
		}
	}
}

func (c *cloner) slice(t reflect.Type) func(*cloning, unsafe.Pointer) {
	elems := elementsOf(t.Elem())
	f := c.compile(t.Elem())
	return func(s *cloning, p unsafe.Pointer) {
		old := *(*sliceHeader)(p)
		if old.data == nil {
			return
		}
		v := visit{p: old.data, n: old.len, typ: t}
		if f != nil && old.len > 0 {
			if done, ok := s.copyOf(v); ok {
				*(*sliceHeader)(p) = sliceHeader{data: done, len: old.len, cap: old.len}
				return
			}
		}
		if elems.plain {
			all := elems.alloc(old.len)
			elems.copyPlain(all.base, old.data, old.len)
			*(*sliceHeader)(p) = sliceHeader{data: all.base, len: old.len, cap: old.len}
			return
		}
		copied, all := elems.make(old.len)
		reflect.Copy(copied, reflect.NewAt(t, p).Elem())
		*(*sliceHeader)(p) = sliceHeader{data: all.base, len: old.len, cap: old.len}
		if f == nil || old.len == 0 {
			return
		}
		s.remember(v, all.base)
		for i := range old.len {
			f.fix(s, all.at(i))
		}
	}
}

func (c *cloner) mapOf(t reflect.Type) func(*cloning, unsafe.Pointer) {
	fk, fv := c.compile(t.Key()), c.compile(t.Elem())
	return func(s *cloning, p unsafe.Pointer) {
		old := reflect.NewAt(t, p).Elem()
		if old.IsNil() {
			return
		}
		v := visit{p: old.UnsafePointer(), typ: t}
		if done, ok := s.copyOf(v); ok {
			*(*unsafe.Pointer)(p) = done
			return
		}
		copied := reflect.MakeMapWithSize(t, old.Len())
		s.remember(v, copied.UnsafePointer())
		for it := old.MapRange(); it.Next(); {
			key, value := reflect.New(t.Key()), reflect.New(t.Elem())
			key.Elem().SetIterKey(it)
			value.Elem().SetIterValue(it)
			if fk != nil {
				fk.fix(s, key.UnsafePointer())
			}
			if fv != nil {
				fv.fix(s, value.UnsafePointer())
			}
			copied.SetMapIndex(key.Elem(), value.Elem())
		}
		old.Set(copied)
	}
}

func fixInterface(t reflect.Type) func(*cloning, unsafe.Pointer) {
	return func(s *cloning, p unsafe.Pointer) {
		held := reflect.NewAt(t, p).Elem()
		if held.IsNil() {
			return
		}
		f := s.cloner.dynamicFixer(held.Elem().Type())
		if f.fix == nil {
			return // the box of an interface is never written, so it can be shared
		}
		copied := reflect.New(held.Elem().Type())
		copied.Elem().Set(held.Elem())
		f.fix(s, copied.UnsafePointer())
		held.Set(copied.Elem())
	}
}

func (c *cloner) dynamicFixer(t reflect.Type) *fixer {
	if f, ok := c.dynamic.Load(t); ok {
		return f.(*fixer)
	}
	// A cloner of its own: compile is not safe for two goroutines at once, and two of them may meet t.
	var own cloner
	f := own.compile(t)
	if f == nil {
		f = &fixer{}
	}
	c.dynamic.Store(t, f)
	return f
}

func (c *cloner) structOf(t reflect.Type) func(*cloning, unsafe.Pointer) {
	type field struct {
		offset uintptr
		fixer  *fixer
	}
	var fields []field
	for sf := range t.Fields() {
		if !sf.IsExported() {
			continue
		}
		if f := c.compile(sf.Type); f != nil {
			fields = append(fields, field{sf.Offset, f})
		}
	}
	if fields == nil {
		return nil
	}
	return func(s *cloning, p unsafe.Pointer) {
		for _, f := range fields {
			f.fixer.fix(s, unsafe.Add(p, f.offset))
		}
	}
}

func (c *cloner) array(t reflect.Type) func(*cloning, unsafe.Pointer) {
	f := c.compile(t.Elem())
	if f == nil {
		return nil
	}
	size, n := t.Elem().Size(), t.Len()
	return func(s *cloning, p unsafe.Pointer) {
		for i := range n {
			f.fix(s, unsafe.Add(p, uintptr(i)*size))
		}
	}
}

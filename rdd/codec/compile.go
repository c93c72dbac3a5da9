package codec

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// compiler turns a type into its column and its name.
type compiler struct {
	open []openType // the types around the one being compiled, outermost first
}

type openType struct {
	typ reflect.Type
	ref *recursiveColumn // made when the type is met inside itself
}

// compile returns the column of t, which path leads to. key says that t is, or is part of, the key of a map.
func (c *compiler) compile(t reflect.Type, path string, key bool) (column, string, error) {
	for i := range c.open {
		if o := &c.open[i]; o.typ == t {
			if o.ref == nil {
				// The bits are needed before t is complete, when a struct in t has a field of type t. That takes a slice, a
				// map or a pointer; for the other types they are set when t is complete.
				o.ref = &recursiveColumn{bits: 8}
				if t.Kind() == reflect.Pointer {
					o.ref.bits = 1
				}
			}
			return o.ref, "^" + strconv.Itoa(i), nil
		}
	}
	if o, name := opaqueOf(t, path); o != nil {
		return o, name, nil
	}
	if col, name := leaf(t, path); col != nil {
		return col, name, nil
	}
	depth := len(c.open)
	c.open = append(c.open, openType{typ: t})
	col, name, err := c.composite(t, path, key)
	if ref := c.open[depth].ref; ref != nil && err == nil {
		ref.target, ref.bits = col, col.minBits()
	}
	c.open = c.open[:depth]
	return col, name, err
}

// leaf returns the column of a type without parts that have columns of their own, or nil.
func leaf(t reflect.Type, path string) (column, string) {
	name := t.Kind().String()
	size := int(t.Size())
	switch t.Kind() {
	case reflect.Bool:
		return boolColumn{}, name
	case reflect.Int:
		return fixedColumn{mem: size, wire: 8, signed: true, count: 1}, name
	case reflect.Uint, reflect.Uintptr:
		return fixedColumn{mem: size, wire: 8, count: 1}, name
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return fixedColumn{mem: size, wire: size, count: 1}, name
	case reflect.Complex64, reflect.Complex128:
		return fixedColumn{mem: size / 2, wire: size / 2, count: 2}, name
	case reflect.String:
		return stringColumn{}, name
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return anyColumn{path: path}, "any"
		}
	case reflect.Slice:
		if e := t.Elem(); e.Kind() == reflect.Uint8 && methodsOf(e) == noMethods {
			return bytesColumn{}, "bytes"
		}
	}
	return nil, ""
}

func (c *compiler) composite(t reflect.Type, path string, key bool) (column, string, error) {
	switch t.Kind() {
	case reflect.Struct:
		return c.structOf(t, path, key)
	case reflect.Array:
		return c.arrayOf(t, path, key)
	case reflect.Slice:
		elem, name, err := c.compile(t.Elem(), path+"[]", key)
		if err != nil {
			return nil, "", err
		}
		return &listColumn{elem: elem, elems: elementsOf(t.Elem())}, "list<" + name + ">", nil
	case reflect.Pointer:
		if key {
			return nil, "", &TypeError{Type: t, Path: path, Reason: "a pointer in the key of a map is an identity, which is not kept"}
		}
		elem, name, err := c.compile(t.Elem(), path, false)
		if err != nil {
			return nil, "", err
		}
		return &optionalColumn{elem: elem, elems: elementsOf(t.Elem())}, "optional<" + name + ">", nil
	case reflect.Map:
		return c.mapOf(t, path)
	case reflect.Interface:
		return nil, "", &TypeError{Type: t, Path: path, Reason: "an interface with methods does not say which types it holds"}
	}
	return nil, "", &TypeError{Type: t, Path: path, Reason: fmt.Sprintf("a %v has no meaning in another process", t.Kind())}
}

func (c *compiler) structOf(t reflect.Type, path string, key bool) (column, string, error) {
	col := &structColumn{}
	var names []string
	for f := range t.Fields() {
		if f.Name == "_" {
			continue // padding: no program can read it
		}
		at := f.Name
		if path != "" {
			at = path + "." + f.Name
		}
		if !f.IsExported() {
			reason := "an unexported field is out of reach; export it, or give the struct MarshalBinary and UnmarshalBinary"
			if methodsOf(t) != noMethods {
				reason = "an unexported field beside an embedded type whose methods would drop it; do not embed, or export the field"
			}
			return nil, "", &TypeError{Type: t, Path: at, Reason: reason}
		}
		fc, name, err := c.compile(f.Type, at, key)
		if err != nil {
			return nil, "", err
		}
		names = append(names, f.Name+":"+name)
		if fc.minBits() > 0 {
			col.fields = append(col.fields, fieldColumn{column: fc, offset: f.Offset})
			col.bits += fc.minBits()
		}
	}
	name := "struct<" + strings.Join(names, ",") + ">"
	if col.bits > 0 {
		return col, name, nil
	}
	if t.Size() > 0 {
		// Memory that no byte of a frame stands for could not be bounded when decoding.
		return nil, "", &TypeError{Type: t, Path: path, Reason: "only blank fields"}
	}
	return emptyColumn{}, name, nil
}

func (c *compiler) arrayOf(t reflect.Type, path string, key bool) (column, string, error) {
	elem, name, err := c.compile(t.Elem(), path+"[]", key)
	if err != nil {
		return nil, "", err
	}
	name = fmt.Sprintf("array<%s,%d>", name, t.Len())
	if t.Len() == 0 || elem.minBits() == 0 {
		return emptyColumn{}, name, nil
	}
	if f, ok := elem.(fixedColumn); ok {
		f.count *= t.Len()
		return f, name, nil
	}
	return &arrayColumn{elem: elem, size: t.Elem().Size(), count: t.Len()}, name, nil
}

func (c *compiler) mapOf(t reflect.Type, path string) (column, string, error) {
	key, keyName, err := c.compile(t.Key(), path+"[key]", true)
	if err != nil {
		return nil, "", err
	}
	value, valueName, err := c.compile(t.Elem(), path+"[value]", false)
	if err != nil {
		return nil, "", err
	}
	return &mapColumn{
		typ: t, path: path,
		key: key, value: value,
		keys: elementsOf(t.Key()), vals: elementsOf(t.Elem()),
	}, "map<" + keyName + "," + valueName + ">", nil
}

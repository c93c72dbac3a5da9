package dstream

import (
	"crypto/sha256"
	"encoding"
	"fmt"
	"reflect"
	"strings"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// Bounds of what is said of a type.
const (
	maxTypeDepth = 16
	maxTypeText  = 1024
)

const ownPackage = "github.com/leat-io/leat/dstream"

// typeText returns what is compared of a type between two builds of a program: its name and, field by field, what it is
// made of. Types that encode themselves, and those of this package, are told by their names alone. A text that is too long
// ends in a digest of all of it.
func typeText(t reflect.Type) string {
	var b strings.Builder
	writeType(&b, t, nil)
	text := b.String()
	if len(text) > maxTypeText {
		text = fmt.Sprintf("%s... %x", text[:maxTypeText], sha256.Sum256([]byte(text)))
	}
	return text
}

// writeType writes a type that occurs in those of path.
func writeType(b *strings.Builder, t reflect.Type, path []reflect.Type) {
	if t.PkgPath() != "" {
		b.WriteString(t.PkgPath())
		b.WriteByte('.')
	}
	b.WriteString(t.Name())
	if t.Name() != "" && t.PkgPath() == "" {
		return // predeclared
	}
	own := t.PkgPath() == ownPackage || strings.HasPrefix(t.PkgPath(), ownPackage+"/internal/")
	if own || t.Name() != "" && reflect.PointerTo(t).Implements(typeOf[encoding.BinaryMarshaler]()) {
		return
	}
	for _, outer := range path {
		if outer == t {
			return // it has been told further out
		}
	}
	if len(path) >= maxTypeDepth {
		b.WriteString("...")
		return
	}
	path = append(path, t)
	switch t.Kind() {
	case reflect.Struct:
		b.WriteByte('{')
		for i := range t.NumField() {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(t.Field(i).Name)
			b.WriteByte(' ')
			writeType(b, t.Field(i).Type, path)
		}
		b.WriteByte('}')
	case reflect.Pointer:
		b.WriteByte('*')
		writeType(b, t.Elem(), path)
	case reflect.Slice:
		b.WriteString("[]")
		writeType(b, t.Elem(), path)
	case reflect.Array:
		fmt.Fprintf(b, "[%d]", t.Len())
		writeType(b, t.Elem(), path)
	case reflect.Map:
		b.WriteString("map[")
		writeType(b, t.Key(), path)
		b.WriteByte(']')
		writeType(b, t.Elem(), path)
	case reflect.Interface, reflect.Func, reflect.Chan:
		if t.Name() == "" {
			b.WriteString(t.String())
		}
	default:
		b.WriteByte(' ')
		b.WriteString(t.Kind().String())
	}
}

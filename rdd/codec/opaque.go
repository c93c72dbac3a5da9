package codec

import (
	"bytes"
	"encoding"
	"fmt"
	"reflect"

	"github.com/vmihailenco/msgpack/v5"
)

// opaqueColumn encodes values by methods of their type: a column of lengths, then the bytes of all.
type opaqueColumn struct {
	typ   reflect.Type
	path  string
	write func(dst []byte, x any) ([]byte, error)
	read  func(src []byte, x any) error
}

func (c *opaqueColumn) minBits() int { return 8 }

func (c *opaqueColumn) append(e *encoder, v view) error {
	var content []byte
	for i := range v.n {
		start := len(content)
		var err error
		// A pointer in an interface is not boxed, so this costs no allocation for each row.
		if content, err = c.write(content, reflect.NewAt(c.typ, v.at(i)).Interface()); err != nil {
			return fmt.Errorf("encode %v at %s by its own method: %w", c.typ, orRow(c.path), err)
		}
		if len(content) > maxRows {
			return limitError(len(content) - start)
		}
		e.dst = appendLength(e.dst, len(content)-start)
	}
	e.dst = append(e.dst, content...)
	return nil
}

func (c *opaqueColumn) decode(r *reader, v view) error {
	l, total, err := r.lengths(v.n, 0)
	if err != nil {
		return err
	}
	all, err := r.take(total)
	if err != nil {
		return err
	}
	for i := range v.n {
		n := l.next()
		if err := c.read(all[:n:n], reflect.NewAt(c.typ, v.at(i)).Interface()); err != nil {
			return &CorruptError{Offset: r.off - len(all), Reason: fmt.Sprintf("%v refuses its bytes", c.typ), Err: err}
		}
		all = all[n:]
	}
	return nil
}

func orRow(path string) string {
	if path == "" {
		return "the row"
	}
	return path
}

var (
	binaryMarshaler    = reflect.TypeFor[encoding.BinaryMarshaler]()
	binaryAppender     = reflect.TypeFor[encoding.BinaryAppender]()
	binaryUnmarshaler  = reflect.TypeFor[encoding.BinaryUnmarshaler]()
	msgpackEncoder     = reflect.TypeFor[msgpack.CustomEncoder]()
	msgpackDecoder     = reflect.TypeFor[msgpack.CustomDecoder]()
	msgpackMarshaler   = reflect.TypeFor[msgpack.Marshaler]()
	msgpackUnmarshaler = reflect.TypeFor[msgpack.Unmarshaler]()
)

// methods names a way for a type to encode itself.
type methods int

const (
	noMethods methods = iota
	appendBinary
	marshalBinary
	customMsgpack
	marshalMsgpack
)

// methodsOf returns how a pointer to t encodes t, the first way of those above.
func methodsOf(t reflect.Type) methods {
	p := reflect.PointerTo(t)
	decodesBinary := p.Implements(binaryUnmarshaler)
	switch {
	case decodesBinary && p.Implements(binaryAppender):
		return appendBinary
	case decodesBinary && p.Implements(binaryMarshaler):
		return marshalBinary
	case p.Implements(msgpackEncoder) && p.Implements(msgpackDecoder):
		return customMsgpack
	case p.Implements(msgpackMarshaler) && p.Implements(msgpackUnmarshaler):
		return marshalMsgpack
	}
	return noMethods
}

// embedsMethods reports whether the methods of t may be those of an embedded field, which know nothing of the other fields.
func embedsMethods(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t.NumField() < 2 {
		return false
	}
	for f := range t.Fields() {
		if !f.Anonymous {
			continue
		}
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		if methodsOf(ft) != noMethods || embedsMethods(ft) || ft.Kind() == reflect.Interface {
			return true
		}
	}
	return false
}

// opaqueOf returns the column of a type that encodes itself, with its name, or nil.
func opaqueOf(t reflect.Type, path string) (*opaqueColumn, string) {
	m := methodsOf(t)
	if m == noMethods || embedsMethods(t) {
		return nil, ""
	}
	c := &opaqueColumn{typ: t, path: path}
	name := t.Name()
	if t.PkgPath() != "" {
		name = t.PkgPath() + "." + name
	}
	switch m {
	case appendBinary:
		c.write = func(dst []byte, x any) ([]byte, error) { return x.(encoding.BinaryAppender).AppendBinary(dst) }
	case marshalBinary:
		c.write = func(dst []byte, x any) ([]byte, error) {
			b, err := x.(encoding.BinaryMarshaler).MarshalBinary()
			return append(dst, b...), err
		}
	case customMsgpack:
		c.write, c.read = appendCustomMsgpack, decodeCustomMsgpack
		return c, "msgpack<" + name + ">"
	case marshalMsgpack:
		c.write = func(dst []byte, x any) ([]byte, error) {
			b, err := x.(msgpack.Marshaler).MarshalMsgpack()
			return append(dst, b...), err
		}
		c.read = func(src []byte, x any) error { return x.(msgpack.Unmarshaler).UnmarshalMsgpack(src) }
		return c, "msgpack<" + name + ">"
	}
	c.read = func(src []byte, x any) error { return x.(encoding.BinaryUnmarshaler).UnmarshalBinary(src) }
	return c, "binary<" + name + ">"
}

// The encoders and decoders come from msgpack's own pools, since one is needed for each value.

func appendCustomMsgpack(dst []byte, x any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := msgpack.GetEncoder()
	defer msgpack.PutEncoder(enc)
	enc.Reset(b)
	enc.SetSortMapKeys(true) // the same value has to give the same bytes
	err := x.(msgpack.CustomEncoder).EncodeMsgpack(enc)
	return b.Bytes(), err
}

func decodeCustomMsgpack(src []byte, x any) error {
	b := bytes.NewReader(src)
	dec := msgpack.GetDecoder()
	defer msgpack.PutDecoder(dec)
	dec.Reset(b)
	if err := x.(msgpack.CustomDecoder).DecodeMsgpack(dec); err != nil {
		return err
	}
	if b.Len() > 0 {
		return fmt.Errorf("%d bytes are left over", b.Len())
	}
	return nil
}

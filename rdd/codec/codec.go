package codec

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// Codec encodes and decodes slices of T. Get one from [For]; the zero value is not usable.
// A Codec never changes, so any number of goroutines may use it at once.
type Codec[T any] struct {
	root   column
	name   string
	schema uint32 // checksum of name, written in every frame
}

// For returns a codec for rows of type T, compiled by reflection.
//
// Builtin kinds, strings, arrays, slices, maps, pointers, structs of exported fields and the empty interface are encoded
// column by column. A type with MarshalBinary (or AppendBinary) and UnmarshalBinary is encoded by those methods, and a type
// with the custom methods of msgpack by those. A struct that embeds such a type beside other fields is encoded field by field,
// since the methods it gets by embedding would drop the other fields. Blank fields are skipped.
//
// Cost: one walk over the type. Nothing is cached: keep the codec.
// Errors: *TypeError with the path to the first part that has no exact encoding.
func For[T any]() (*Codec[T], error) {
	t := reflect.TypeFor[T]()
	var c compiler
	root, name, err := c.compile(t, "", false)
	if err != nil {
		return nil, err
	}
	return &Codec[T]{root: root, name: name, schema: schemaOf(name)}, nil
}

// Name returns the name of the encoding, which says every column: struct<Word:string,N:int64>, list<optional<float64>>.
// It is the same in every build and on every platform, and does not contain the names of Go types, except for types encoded
// by their own methods. It is meant to enter fingerprints.
func (c *Codec[T]) Name() string { return c.name }

// Append returns dst followed by one frame that holds rows.
//
// Cost: one pass over the rows for each column; strings, two. dst grows once or a few times; no other allocation for builtin
// kinds. Maps are sorted by encoded key.
// Errors: *TypeError for an interface value whose dynamic type is not builtin; what a type's own method returned; a value
// nested deeper than 10,000 levels, as a cycle is. dst is then returned as it was.
func (c *Codec[T]) Append(dst []byte, rows []T) ([]byte, error) {
	if len(rows) > maxRows {
		return dst, fmt.Errorf("encode %d rows of %s: more than %d in one frame", len(rows), c.name, maxRows)
	}
	e := encoder{dst: appendHeader(dst, c.schema)}
	e.dst = binary.AppendUvarint(e.dst, uint64(len(rows)))
	if len(rows) > 0 {
		v := view{base: unsafe.Pointer(unsafe.SliceData(rows)), stride: unsafe.Sizeof(rows[0]), n: len(rows)}
		if err := c.root.append(&e, v); err != nil {
			return dst, fmt.Errorf("encode %d rows of %s: %w", len(rows), c.name, err)
		}
	}
	return appendChecksum(e.dst, len(dst)), nil
}

// Decode returns the rows of one frame, which must be all of src. The rows hold no reference to src.
//
// Order: that of the rows given to Append. No rows gives nil.
// Cost: one pass for each column and one or two allocations for each column, not for each row, except for maps, interface
// values and types decoded by their own methods.
// Errors: *CorruptError, for which errors.Is(err, ErrCorrupt) holds.
func (c *Codec[T]) Decode(src []byte) ([]T, error) { return c.DecodeAppend(nil, src) }

// DecodeAppend returns dst followed by the rows of one frame. It is Decode for a caller that reads many frames and is done
// with the rows of one before the next: given dst[:0] of the last result, it makes no new slice of rows.
//
// Errors: as Decode; dst is then returned as it was.
func (c *Codec[T]) DecodeAppend(dst []T, src []byte) ([]T, error) {
	rows, err := c.decode(dst, src)
	if err != nil {
		return dst, fmt.Errorf("decode rows of %s: %w", c.name, err)
	}
	return rows, nil
}

func (c *Codec[T]) decode(dst []T, src []byte) ([]T, error) {
	r, err := openFrame(src, c.schema)
	if err != nil {
		return nil, err
	}
	n, err := r.length()
	if err != nil {
		return nil, err
	}
	if err := r.need(n, c.root.minBits()); err != nil {
		return nil, err
	}
	if n > 0 {
		dst = grow(dst, n)
		rows := dst[len(dst)-n:]
		v := view{base: unsafe.Pointer(unsafe.SliceData(rows)), stride: unsafe.Sizeof(rows[0]), n: n}
		if err := c.root.decode(r, v); err != nil {
			clear(rows) // nothing of a corrupt frame stays behind in the caller's memory
			return nil, err
		}
	}
	if r.off != len(r.src) {
		clear(dst[len(dst)-n:])
		return nil, r.corrupt("bytes left after the last column")
	}
	return dst, nil
}

// grow returns dst with n zero rows more, in an array of exactly the right length when dst is nil.
func grow[T any](dst []T, n int) []T {
	if dst == nil {
		return make([]T, n)
	}
	dst = slices.Grow(dst, n)[:len(dst)+n]
	clear(dst[len(dst)-n:])
	return dst
}

package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// The kinds of an interface value, as in docs/codec.md. New kinds are added at the end.
const (
	kindNil byte = iota
	kindFalse
	kindTrue
	kindInt
	kindInt8
	kindInt16
	kindInt32
	kindInt64
	kindUint
	kindUint8
	kindUint16
	kindUint32
	kindUint64
	kindFloat32
	kindFloat64
	kindString
	kindNilBytes
	kindBytes
)

// anyColumn encodes empty interfaces as a column of kinds, one byte each, and then the values one after the other.
// The kind is kept exactly: an int stays an int and an int32 an int32.
type anyColumn struct{ path string }

func (c anyColumn) minBits() int { return 8 }

func (c anyColumn) append(e *encoder, v view) error {
	var err error
	start := len(e.dst)
	e.dst, _ = extend(e.dst, v.n)
	for i := range v.n {
		x := *(*any)(v.at(i))
		var kind byte
		if kind, e.dst, err = c.appendValue(e.dst, x); err != nil {
			return err
		}
		e.dst[start+i] = kind
	}
	return nil
}

func (c anyColumn) appendValue(dst []byte, x any) (byte, []byte, error) {
	switch x := x.(type) {
	case nil:
		return kindNil, dst, nil
	case bool:
		if x {
			return kindTrue, dst, nil
		}
		return kindFalse, dst, nil
	case int:
		return kindInt, binary.LittleEndian.AppendUint64(dst, uint64(x)), nil
	case int8:
		return kindInt8, append(dst, byte(x)), nil
	case int16:
		return kindInt16, binary.LittleEndian.AppendUint16(dst, uint16(x)), nil
	case int32:
		return kindInt32, binary.LittleEndian.AppendUint32(dst, uint32(x)), nil
	case int64:
		return kindInt64, binary.LittleEndian.AppendUint64(dst, uint64(x)), nil
	case uint:
		return kindUint, binary.LittleEndian.AppendUint64(dst, uint64(x)), nil
	case uint8:
		return kindUint8, append(dst, x), nil
	case uint16:
		return kindUint16, binary.LittleEndian.AppendUint16(dst, x), nil
	case uint32:
		return kindUint32, binary.LittleEndian.AppendUint32(dst, x), nil
	case uint64:
		return kindUint64, binary.LittleEndian.AppendUint64(dst, x), nil
	case float32:
		return kindFloat32, binary.LittleEndian.AppendUint32(dst, math.Float32bits(x)), nil
	case float64:
		return kindFloat64, binary.LittleEndian.AppendUint64(dst, math.Float64bits(x)), nil
	case string:
		if len(x) > maxRows {
			return 0, dst, limitError(len(x))
		}
		return kindString, append(appendLength(dst, len(x)), x...), nil
	case []byte:
		if x == nil {
			return kindNilBytes, dst, nil
		}
		if len(x) > maxRows {
			return 0, dst, limitError(len(x))
		}
		return kindBytes, append(appendLength(dst, len(x)), x...), nil
	}
	return 0, dst, &TypeError{
		Type: reflect.TypeOf(x), Path: c.path,
		Reason: "held by an interface, which keeps only bool, int*, uint*, float*, string and []byte",
	}
}

func (c anyColumn) decode(r *reader, v view) error {
	kinds, err := r.take(v.n)
	if err != nil {
		return err
	}
	for i, kind := range kinds {
		x, err := r.value(kind)
		if err != nil {
			return err
		}
		*(*any)(v.at(i)) = x
	}
	return nil
}

func (r *reader) value(kind byte) (any, error) {
	switch kind {
	case kindNil:
		return nil, nil
	case kindFalse, kindTrue:
		return kind == kindTrue, nil
	case kindNilBytes:
		return []byte(nil), nil
	case kindString, kindBytes:
		n, err := r.length()
		if err != nil {
			return nil, err
		}
		b, err := r.take(n)
		if err != nil {
			return nil, err
		}
		if kind == kindString {
			return string(b), nil
		}
		return append(make([]byte, 0, n), b...), nil
	}
	x, err := r.number(kind)
	if err != nil {
		return nil, err
	}
	switch kind {
	case kindInt:
		return int(x), nil
	case kindInt8:
		return int8(x), nil
	case kindInt16:
		return int16(x), nil
	case kindInt32:
		return int32(x), nil
	case kindInt64:
		return int64(x), nil
	case kindUint:
		return uint(x), nil
	case kindUint8:
		return uint8(x), nil
	case kindUint16:
		return uint16(x), nil
	case kindUint32:
		return uint32(x), nil
	case kindUint64:
		return x, nil
	case kindFloat32:
		return math.Float32frombits(uint32(x)), nil
	default: // number refuses every other kind
		return math.Float64frombits(x), nil
	}
}

// number reads the bytes of a kind of number, least byte first.
func (r *reader) number(kind byte) (uint64, error) {
	size := 0
	switch kind {
	case kindInt8, kindUint8:
		size = 1
	case kindInt16, kindUint16:
		size = 2
	case kindInt32, kindUint32, kindFloat32:
		size = 4
	case kindInt, kindInt64, kindUint, kindUint64, kindFloat64:
		size = 8
	default:
		return 0, r.corrupt(fmt.Sprintf("unknown kind %d of an interface value", kind))
	}
	b, err := r.take(size)
	if err != nil {
		return 0, err
	}
	x := uint64(0)
	for i, b := range b {
		x |= uint64(b) << (8 * i)
	}
	if unsafe.Sizeof(0) < 8 && (kind == kindInt && int64(x) != int64(int(x)) || kind == kindUint && x != uint64(uint(x))) {
		return 0, r.corrupt("number does not fit the int of this platform")
	}
	return x, nil
}

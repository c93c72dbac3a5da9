package codec_test

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/vmihailenco/msgpack/v5"
)

// Pair has the shape of a keyed record.
type Pair[K, V any] struct {
	Key   K
	Value V
}

// Numbers has every fixed-width kind, at strides that are not the width.
type Numbers struct {
	B   bool
	I   int
	I8  int8
	I16 int16
	I32 int32
	I64 int64
	U   uint
	U8  uint8
	U16 uint16
	U32 uint32
	U64 uint64
	P   uintptr
	F32 float32
	F64 float64
	C64 complex64
	C   complex128
	_   [3]byte
}

// Nested has every composite kind inside others.
type Nested struct {
	Names  []string
	Matrix [][]float64
	Flags  [3]bool
	Hash   [16]byte
	Words  [2]string
	Next   *Pair[string, int64]
	Deep   **int32
	Raw    []byte
	Index  map[string][]int
	Set    map[Pair[int8, string]]struct{}
	None   struct{}
	Zeros  []struct{}
	Ptrs   []*string
}

// Tree is a recursive type.
type Tree struct {
	Name     string
	Children []Tree
	Parent   *Tree
}

// Chain is recursive through a slice that is met as a field.
type (
	Chain []Link
	Link  struct {
		N    int16
		Next Chain
	}
)

// Custom uses the custom methods of msgpack.
type Custom struct{ n int64 }

func (c Custom) EncodeMsgpack(e *msgpack.Encoder) error { return e.EncodeInt64(c.n) }
func (c *Custom) DecodeMsgpack(d *msgpack.Decoder) (err error) {
	c.n, err = d.DecodeInt64()
	return err
}

// Packed uses the other pair of methods of msgpack.
type Packed struct{ n byte }

func (c Packed) MarshalMsgpack() ([]byte, error)  { return []byte{c.n}, nil }
func (c *Packed) UnmarshalMsgpack(b []byte) error { return (*Money)(c).UnmarshalBinary(b) }

// Money uses MarshalBinary only, not AppendBinary.
type Money struct{ n byte }

var errMoney = errors.New("not money")

func (m *Money) MarshalBinary() ([]byte, error) { return []byte{m.n}, nil }
func (m *Money) UnmarshalBinary(b []byte) error {
	if len(b) != 1 {
		return errMoney
	}
	m.n = b[0]
	return nil
}

// Event embeds a type with methods beside a field of its own.
type Event struct {
	time.Time
	Name string
}

type (
	userID   string
	coloured uint8
)

func utc(sec int64) time.Time { return time.Unix(sec, 7).UTC() }

func ptr[T any](x T) *T { return &x }

// newCodec returns the codec of T and fails the test when there is none.
func newCodec[T any](t testing.TB) *codec.Codec[T] {
	t.Helper()
	c, err := codec.For[T]()
	if err != nil {
		t.Fatalf("For[%v]: %v", reflect.TypeFor[T](), err)
	}
	return c
}

func encode[T any](t testing.TB, c *codec.Codec[T], rows []T) []byte {
	t.Helper()
	b, err := c.Append(nil, rows)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	return b
}

// seal writes the header of a codec over the start of a body and a right checksum behind it, so that what is made up reaches
// the columns.
func seal[T any](t testing.TB, c *codec.Codec[T], body []byte) []byte {
	header := encode(t, c, nil)[:8]
	b := append(append([]byte(nil), header...), body...)
	return binary.LittleEndian.AppendUint32(b, crc(b))
}

var sampleTimes = []Pair[time.Time, netip.Addr]{
	{utc(0), netip.MustParseAddr("10.0.0.1")}, {time.Time{}, netip.Addr{}}, {utc(1e9), netip.MustParseAddr("::1")},
}

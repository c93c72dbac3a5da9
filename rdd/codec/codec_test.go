package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/leat-io/leat/rdd/codec"
	"pgregory.net/rapid"
)

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// roundTrip checks that rows come back equal, from a frame that does not depend on what dst held, and that the frame can be
// made again from what came back.
func roundTrip[T any](t *testing.T, rows []T) {
	t.Helper()
	c := newCodec[T](t)
	frame := encode(t, c, rows)
	prefixed, err := c.Append([]byte("before"), rows)
	if err != nil || string(prefixed) != "before"+string(frame) {
		t.Errorf("%s: a frame appended to other bytes differs: %v", c.Name(), err)
	}
	src := bytes.Clone(frame)
	got, err := c.Decode(src)
	if err != nil {
		t.Fatalf("%s: Decode: %v", c.Name(), err)
	}
	clear(src) // the rows must not refer to it
	if len(got) != len(rows) || len(rows) > 0 && !reflect.DeepEqual(got, rows) {
		t.Fatalf("%s: got\n%#v\nwant\n%#v", c.Name(), got, rows)
	}
	if again := encode(t, newCodec[T](t), got); !bytes.Equal(again, frame) {
		t.Errorf("%s: encoding what was decoded gives other bytes", c.Name())
	}
}

func nestedRows() []Nested {
	return []Nested{
		{},
		{
			Names: []string{"", "a", strings.Repeat("long", 100)}, Matrix: [][]float64{{1, 2}, nil, {}},
			Flags: [3]bool{true, false, true}, Hash: [16]byte{1, 15: 2}, Words: [2]string{"x", "yy"},
			Next: &Pair[string, int64]{"k", -1}, Deep: ptr(ptr(int32(5))), Raw: []byte{},
			Index: map[string][]int{"b": {1}, "a": nil, "": {}},
			Set:   map[Pair[int8, string]]struct{}{{1, "z"}: {}, {-1, "y"}: {}},
			Zeros: make([]struct{}, 3), Ptrs: []*string{nil, ptr("p"), nil, ptr("")},
		},
		{Names: []string{}, Matrix: [][]float64{}, Index: map[string][]int{}, Zeros: []struct{}{}, Ptrs: []*string{}, Raw: []byte("r")},
		{Deep: ptr((*int32)(nil))},
	}
}

func treeRows() []Tree {
	return []Tree{
		{Name: "leaf"},
		{Name: "root", Parent: &Tree{Name: "up"}, Children: []Tree{
			{Name: "a", Children: []Tree{{Name: "a1", Children: []Tree{}}}}, {Name: "b"},
		}},
	}
}

func anyRows() []any {
	return []any{
		nil, true, false, int(-1), int8(-8), int16(-16), int32(-32), int64(-64), uint(1), uint8(8), uint16(16), uint32(32),
		uint64(math.MaxUint64), float32(1.5), 2.5, "text", "", []byte(nil), []byte{}, []byte("b"),
	}
}

func TestRoundTrip(t *testing.T) {
	t.Run("strings", func(t *testing.T) {
		var rows []string
		for n := range 300 {
			rows = append(rows, strings.Repeat("é\xff", n)[:n])
		}
		roundTrip(t, rows)
	})
	t.Run("int64", func(t *testing.T) { roundTrip(t, []int64{0, 1, -1, math.MaxInt64, math.MinInt64}) })
	t.Run("bools_of_every_count", func(t *testing.T) {
		var rows []bool
		for n := range 20 {
			roundTrip(t, rows)
			rows = append(rows, n%3 == 0)
		}
	})
	t.Run("pairs", func(t *testing.T) { roundTrip(t, []Pair[string, int64]{{"a", 1}, {"", 0}, {"0123456789", -1}}) })
	t.Run("nested", func(t *testing.T) { roundTrip(t, nestedRows()) })
	t.Run("recursive", func(t *testing.T) { roundTrip(t, treeRows()) })
	t.Run("recursive_through_a_field", func(t *testing.T) {
		roundTrip(t, []Chain{nil, {}, {{1, nil}, {2, Chain{{3, Chain{}}}}}})
	})
	t.Run("any", func(t *testing.T) { roundTrip(t, anyRows()) })
	t.Run("any_in_map", func(t *testing.T) {
		roundTrip(t, []map[any]any{{1: "a", "1": 2, nil: nil, int8(1): 3.5}, nil, {}})
	})
	t.Run("own_methods", func(t *testing.T) { roundTrip(t, sampleTimes) })
	t.Run("own_methods_of_a_pointer", func(t *testing.T) { roundTrip(t, []*Money{{n: 1}, nil, {n: 2}}) })
	t.Run("own_methods_embedded_beside_a_field", func(t *testing.T) {
		roundTrip(t, []Event{{utc(5), "five"}, {utc(6), ""}})
	})
	t.Run("time_keys", func(t *testing.T) { roundTrip(t, []map[time.Time]int{{utc(3): 1, utc(1): 2, utc(2): 3}}) })
	t.Run("named_kinds", func(t *testing.T) { roundTrip(t, []Pair[userID, []coloured]{{"u", []coloured{1, 2}}}) })
	t.Run("array_elements_with_references", func(t *testing.T) {
		roundTrip(t, [][2]*[]string{{nil, {"a"}}, {{}, nil}})
	})
	t.Run("empty_structs", func(t *testing.T) { roundTrip(t, make([]struct{}, 1000)) })
	t.Run("arrays_without_content", func(t *testing.T) { roundTrip(t, make([]Pair[[0]int, [5]struct{}], 7)) })
	t.Run("pointers_to_nothing", func(t *testing.T) { roundTrip(t, []*struct{}{nil, {}, {}}) })
	t.Run("maps_of_nothing", func(t *testing.T) { roundTrip(t, []map[struct{}]struct{}{nil, {}, {{}: {}}}) })
}

// The methods of msgpack hide their field from DeepEqual's printing, not from its comparison.
func TestRoundTrip_msgpack(t *testing.T) {
	roundTrip(t, []Custom{{0}, {-1}, {math.MaxInt64}})
	roundTrip(t, []Pair[string, *Custom]{{"a", nil}, {"b", &Custom{5}}})
	roundTrip(t, []Packed{{1}, {2}})
}

func property[T any](t *testing.T) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		c := newCodec[T](t)
		rapid.Check(t, func(t *rapid.T) {
			rows := rapid.SliceOf(rapid.Make[T]()).Draw(t, "rows")
			frame, err := c.Append(nil, rows)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Decode(frame)
			if err != nil {
				t.Fatal(err)
			}
			// NaN is not equal to itself, so that printing with the bits shown is the comparison for floats.
			if len(rows) > 0 && !reflect.DeepEqual(got, rows) && fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", rows) {
				t.Fatalf("got %#v, want %#v", got, rows)
			}
			again, err := c.Append(nil, got)
			if err != nil || !bytes.Equal(again, frame) {
				t.Fatalf("encoding what was decoded gives other bytes: %v", err)
			}
		})
	})
}

func TestRoundTrip_property(t *testing.T) {
	property[bool](t)
	property[int](t)
	property[uint16](t)
	property[float32](t)
	property[string](t)
	property[[]byte](t)
	property[[][]string](t)
	property[[3]int16](t)
	property[[2]bool](t)
	property[*string](t)
	property[map[string]int64](t)
	property[map[float64][]bool](t)
	property[map[Pair[string, bool]]map[int8]*uint64](t)
	property[Numbers1](t)
	property[Pair[string, int64]](t)
	property[Pair[[]Pair[string, *int32], [2][]string]](t)
	property[[]map[string][]*Pair[int8, []byte]](t)
}

// Numbers1 is Numbers without the blank and complex fields, which rapid cannot make.
type Numbers1 struct {
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
}

func TestFloats_come_back_bit_for_bit(t *testing.T) {
	bits := []uint64{0, 1 << 63, 0x7ff8_0000_0000_0001, 0x7ff0_0000_0000_0001, 0xfff8_dead_beef_0000, 0x7ff0_0000_0000_0000}
	var rows []Pair[float64, complex128]
	var plain []float64
	for _, b := range bits {
		f := math.Float64frombits(b)
		rows = append(rows, Pair[float64, complex128]{f, complex(f, math.Copysign(0, -1))})
		plain = append(plain, f)
	}
	c, p := newCodec[Pair[float64, complex128]](t), newCodec[float64](t)
	got, err := c.Decode(encode(t, c, rows))
	if err != nil {
		t.Fatal(err)
	}
	gotPlain, err := p.Decode(encode(t, p, plain))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range bits {
		if b := math.Float64bits(got[i].Key); b != want {
			t.Errorf("field: got %x, want %x", b, want)
		}
		if b := math.Float64bits(real(got[i].Value)); b != want || !math.Signbit(imag(got[i].Value)) {
			t.Errorf("complex: got %x, want %x", b, want)
		}
		if b := math.Float64bits(gotPlain[i]); b != want {
			t.Errorf("row: got %x, want %x", b, want)
		}
	}
}

func TestNumbers_with_padding_and_complex(t *testing.T) {
	roundTrip(t, []Numbers{{}, {true, -1, -2, -3, -4, -5, 1, 2, 3, 4, 5, 6, 1.5, 2.5, 1 + 2i, 3 - 4i, [3]byte{}}, {B: true}})
}

func TestMaps_give_the_same_bytes_in_any_order_of_insertion(t *testing.T) {
	c := newCodec[map[string]int](t)
	up, down := map[string]int{}, map[string]int{}
	for i := range 200 {
		up[fmt.Sprint(i)] = i
		down[fmt.Sprint(199-i)] = 199 - i
	}
	want := encode(t, c, []map[string]int{up, down})
	for range 20 {
		if got := encode(t, c, []map[string]int{down, up}); !bytes.Equal(got, want) {
			t.Fatal("two encodings of equal maps differ")
		}
	}
}

func TestMaps_with_several_NaN_keys_are_canonical(t *testing.T) {
	c := newCodec[map[float64]int](t)
	nan := math.NaN()
	m, n := map[float64]int{}, map[float64]int{}
	for i := range 20 {
		m[nan] = i
		n[nan] = 19 - i
	}
	frame := encode(t, c, []map[float64]int{m})
	if !bytes.Equal(frame, encode(t, c, []map[float64]int{n})) {
		t.Error("two encodings of equal maps differ")
	}
	got, err := c.Decode(frame)
	if err != nil || len(got[0]) != 20 {
		t.Errorf("got %d entries, error %v; want 20", len(got[0]), err)
	}
}

func TestDecode_keeps_rows_apart(t *testing.T) {
	c := newCodec[Pair[[]byte, []int]](t)
	got, err := c.Decode(encode(t, c, []Pair[[]byte, []int]{{[]byte("ab"), []int{1}}, {[]byte("cd"), []int{2}}}))
	if err != nil {
		t.Fatal(err)
	}
	_ = append(got[0].Key, 'X')
	_ = append(got[0].Value, 9)
	if string(got[1].Key) != "cd" || got[1].Value[0] != 2 {
		t.Errorf("an append to one row changed the next: %v", got[1])
	}
}

func TestName_says_columns_and_not_Go_types(t *testing.T) {
	for want, got := range map[string]string{
		"struct<Key:string,Value:int64>":                            newCodec[Pair[string, int64]](t).Name(),
		"struct<Key:string,Value:bytes>":                            newCodec[Pair[userID, []coloured]](t).Name(),
		"list<optional<array<float64,3>>>":                          newCodec[[]*[3]float64](t).Name(),
		"map<int32,any>":                                            newCodec[map[rune]any](t).Name(),
		"struct<Time:binary<time.Time>,Name:string>":                newCodec[Event](t).Name(),
		"struct<Name:string,Children:list<^0>,Parent:optional<^0>>": newCodec[Tree](t).Name(),
		"msgpack<github.com/leat-io/leat/rdd/codec_test.Custom>":    newCodec[Custom](t).Name(),
		"list<struct<N:int16,Next:^0>>":                             newCodec[Chain](t).Name(),
		"struct<>":                                                  newCodec[struct{}](t).Name(),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func refuse[T any](t *testing.T, path string, typ reflect.Type) {
	t.Helper()
	_, err := codec.For[T]()
	var te *codec.TypeError
	if !errors.As(err, &te) {
		t.Errorf("For[%v]: got %v, want a TypeError", reflect.TypeFor[T](), err)
		return
	}
	if te.Path != path || te.Type != typ || te.Reason == "" {
		t.Errorf("got %+v, want path %q and type %v", te, path, typ)
	}
}

type hidden struct {
	Shown int
	inner int
}

type hiddenBesideMethods struct {
	time.Time
	n int
}

func TestFor_refuses_types_without_an_exact_encoding(t *testing.T) {
	_, _ = hidden{inner: 1}, hiddenBesideMethods{n: 1}
	refuse[chan int](t, "", reflect.TypeFor[chan int]())
	refuse[func()](t, "", reflect.TypeFor[func()]())
	refuse[Pair[string, []func()]](t, "Value[]", reflect.TypeFor[func()]())
	refuse[map[string]Pair[int, error]](t, "[value].Value", reflect.TypeFor[error]())
	refuse[hidden](t, "inner", reflect.TypeFor[hidden]())
	refuse[hiddenBesideMethods](t, "n", reflect.TypeFor[hiddenBesideMethods]())
	refuse[map[*int]int](t, "[key]", reflect.TypeFor[*int]())
	refuse[[]struct{ _ [64]byte }](t, "[]", reflect.TypeFor[struct{ _ [64]byte }]())
}

func TestAppend_refuses_what_an_interface_cannot_keep(t *testing.T) {
	c := newCodec[Pair[string, []any]](t)
	dst := []byte("kept")
	got, err := c.Append(dst, []Pair[string, []any]{{"a", []any{1}}, {"b", []any{userID("x")}}})
	var te *codec.TypeError
	if !errors.As(err, &te) || te.Type != reflect.TypeFor[userID]() || te.Path != "Value[]" {
		t.Errorf("got %v, want a TypeError for userID at Value[]", err)
	}
	if string(got) != "kept" {
		t.Errorf("dst is %q after an error", got)
	}
}

func TestAppend_refuses_a_cycle(t *testing.T) {
	loop := &Tree{Name: "loop"}
	loop.Parent = loop
	if _, err := newCodec[Tree](t).Append(nil, []Tree{*loop}); err == nil || !strings.Contains(err.Error(), "cycle") {
		t.Errorf("got %v, want an error about a cycle", err)
	}
}

func TestAppend_refuses_keys_that_would_become_equal(t *testing.T) {
	c := newCodec[map[time.Time]int](t)
	now := time.Now()
	_, err := c.Append(nil, []map[time.Time]int{{now: 1, now.Round(0): 2}})
	var te *codec.TypeError
	if !errors.As(err, &te) {
		t.Errorf("got %v, want a TypeError", err)
	}
}

func TestAppend_passes_on_errors_of_own_methods(t *testing.T) {
	far := time.Unix(0, 0).In(time.FixedZone("", 1<<30)) // an offset MarshalBinary refuses
	if _, err := newCodec[Pair[int, time.Time]](t).Append(nil, []Pair[int, time.Time]{{1, far}}); err == nil ||
		!strings.Contains(err.Error(), "Value") {
		t.Errorf("got %v, want an error that names the field", err)
	}
}

func TestDecode_no_rows(t *testing.T) {
	c := newCodec[Nested](t)
	got, err := c.Decode(encode(t, c, []Nested{}))
	if err != nil || got != nil {
		t.Errorf("got %v, %v; want nil, nil", got, err)
	}
	if d := cmp.Diff(encode(t, c, nil), encode(t, c, []Nested{})); d != "" {
		t.Error(d)
	}
}

func TestDecodeAppend_reuses_rows_and_leaves_nothing_of_the_old_ones(t *testing.T) {
	c := newCodec[Pair[*int, []byte]](t)
	old := []Pair[*int, []byte]{{ptr(1), []byte("a")}, {ptr(2), []byte("b")}}
	frame := encode(t, c, []Pair[*int, []byte]{{nil, nil}})
	got, err := c.DecodeAppend(old[:1], frame)
	if err != nil || len(got) != 2 || &got[0] != &old[0] || *got[0].Key != 1 || got[1].Key != nil || got[1].Value != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := c.DecodeAppend(old[:1], frame[1:]); err == nil || len(got) != 1 {
		t.Errorf("got %d rows, error %v; want dst as it was and an error", len(got), err)
	}
}

func TestDecode_makes_a_few_allocations_for_any_number_of_rows(t *testing.T) {
	c := newCodec[Pair[string, int64]](t)
	frame := encode(t, c, pairs())
	if got := testing.AllocsPerRun(10, func() { _, _ = c.Decode(frame) }); got > 4 {
		t.Errorf("%v allocations", got)
	}
}

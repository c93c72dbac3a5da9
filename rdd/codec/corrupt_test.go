package codec_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/leat-io/leat/rdd/codec"
)

// corruptOnly checks that src is refused as corrupt and nothing else.
func corruptOnly[T any](t *testing.T, c *codec.Codec[T], src []byte, what string) {
	t.Helper()
	rows, err := c.Decode(src)
	var ce *codec.CorruptError
	if !errors.Is(err, codec.ErrCorrupt) || !errors.As(err, &ce) || rows != nil {
		t.Errorf("%s %s: got %v, %v; want ErrCorrupt", c.Name(), what, rows, err)
	} else if ce.Offset < 0 || ce.Offset > len(src) || ce.Reason == "" {
		t.Errorf("%s %s: offset %d of %d, reason %q", c.Name(), what, ce.Offset, len(src), ce.Reason)
	}
}

func damage[T any](t *testing.T, rows []T) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		c := newCodec[T](t)
		frame := encode(t, c, rows)
		for n := range frame {
			corruptOnly(t, c, frame[:n], "cut")
		}
		// With a right checksum the columns themselves have to notice.
		for n := 8; n < len(frame)-4; n++ {
			corruptOnly(t, c, seal(t, c, frame[8:n]), "cut and sealed")
		}
		for bit := range len(frame) * 8 {
			frame[bit/8] ^= 1 << (bit % 8)
			corruptOnly(t, c, frame, "bit flipped")
			frame[bit/8] ^= 1 << (bit % 8)
		}
		corruptOnly(t, c, append(frame[:len(frame):len(frame)], 0), "byte added")
		corruptOnly(t, c, seal(t, c, append(frame[8:len(frame)-4:len(frame)-4], 0)), "byte added and sealed")
	})
}

func TestDecode_refuses_every_cut_and_every_flipped_bit(t *testing.T) {
	damage(t, []Pair[string, int64]{{"a", 1}, {"0123456789", 2}})
	damage(t, nestedRows()[1:])
	damage(t, treeRows())
	damage(t, anyRows())
	damage(t, sampleTimes)
	damage(t, []Custom{{1}, {1 << 40}})
	damage(t, []bool{true, false, true})
	damage(t, []Numbers{{I: 1}})
	damage(t, []map[float64]string{{1: "a", 2: "b"}})
}

func TestDecode_refuses_a_frame_of_another_type(t *testing.T) {
	frame := encode(t, newCodec[Pair[string, int64]](t), []Pair[string, int64]{{"a", 1}})
	corruptOnly(t, newCodec[Pair[string, uint64]](t), frame, "schema")
	frame = encode(t, newCodec[struct{ A, B int32 }](t), nil)
	corruptOnly(t, newCodec[struct{ B, A int32 }](t), frame, "schema")
}

func TestDecode_refuses_another_version(t *testing.T) {
	c := newCodec[int64](t)
	frame := encode(t, c, []int64{1})
	frame[2] = 2
	if _, err := c.Decode(frame); !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("got %v, want an error that names the version", err)
	}
	frame[2], frame[3] = 1, 1
	binary.LittleEndian.PutUint32(frame[len(frame)-4:], crc(frame[:len(frame)-4]))
	if _, err := c.Decode(frame); !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), "flags") {
		t.Errorf("got %v, want an error that names the flags", err)
	}
}

func TestDecode_refuses_what_Append_never_writes(t *testing.T) {
	corruptOnly(t, newCodec[string](t), seal(t, newCodec[string](t), []byte{1, 0x81, 0x00, 'a'}), "long form of a length")
	corruptOnly(t, newCodec[bool](t), seal(t, newCodec[bool](t), []byte{1, 2}), "unused bit")
	m := newCodec[map[uint8]bool](t)
	corruptOnly(t, m, seal(t, m, []byte{1, 3, 7, 7, 0}), "key twice")
	a := newCodec[map[any]bool](t)
	corruptOnly(t, a, seal(t, a, []byte{1, 2, 17, 0, 0}), "key without equality")
	e := newCodec[map[struct{}]struct{}](t)
	corruptOnly(t, e, seal(t, e, []byte{1, 3}), "empty key twice")
	x := newCodec[any](t)
	corruptOnly(t, x, seal(t, x, []byte{1, 18}), "unknown kind")
	y := newCodec[Money](t)
	corruptOnly(t, y, seal(t, y, []byte{1, 2, 'a', 'b'}), "refused by its own method")
	if _, err := y.Decode(seal(t, y, []byte{1, 2, 'a', 'b'})); !errors.Is(err, errMoney) {
		t.Errorf("got %v, want the error of the method in it", err)
	}
	deep := []byte{1}
	for range 11_000 {
		deep = append(deep, 2) // a slice of one element
	}
	type list []list
	l := newCodec[list](t)
	corruptOnly(t, l, seal(t, l, append(deep, 1)), "too deep")
}

// manyRows is the longest length that is allowed.
var manyRows = binary.AppendUvarint(nil, 1<<31-1)

func bounded[T any](t *testing.T, body []byte) {
	t.Helper()
	c := newCodec[T](t)
	src := seal(t, c, body)
	corruptOnly(t, c, src, "made to harm")
	if got := allocated(func() { _, _ = c.Decode(src) }); got > uint64(4096+128*len(src)) {
		t.Errorf("%s: %d bytes allocated for a frame of %d", c.Name(), got, len(src))
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestDecode_allocates_no_more_than_the_frame_can_fill(t *testing.T) {
	rest := make([]byte, 64)
	many := append(append([]byte(nil), manyRows...), rest...)
	bounded[int64](t, many)
	bounded[string](t, many)
	bounded[bool](t, many)
	bounded[*int64](t, many)
	bounded[any](t, many)
	bounded[Nested](t, many)
	bounded[Money](t, many)
	bounded[[1 << 20]bool](t, append([]byte{1}, rest...))
	one := append([]byte{1}, many...)
	bounded[string](t, one)
	bounded[[]int64](t, one)
	bounded[[]byte](t, one)
	bounded[[][]string](t, append([]byte{1, 2}, many...))
	bounded[map[string]int](t, one)
	bounded[map[struct{}]struct{}](t, one)
	bounded[Tree](t, append([]byte{1, 0}, many...))
}

func TestDecode_bounds_rows_without_content(t *testing.T) {
	c := newCodec[struct{}](t)
	got, err := c.Decode(seal(t, c, manyRows))
	if err != nil || len(got) != 1<<31-1 {
		t.Errorf("got %d rows, %v", len(got), err)
	}
	corruptOnly(t, c, seal(t, c, binary.AppendUvarint(nil, 1<<31)), "too many rows")
	if n := int64(1 << 31); strconv.IntSize == 64 {
		if _, err := c.Append(nil, make([]struct{}, n)); err == nil {
			t.Error("Append took more rows than Decode allows")
		}
	}
	l := newCodec[[]struct{}](t)
	if _, err := l.Append(nil, [][]struct{}{make([]struct{}, 1<<30), make([]struct{}, 1<<30)}); err == nil {
		t.Error("Append took more elements than Decode allows")
	}
	body := append([]byte{2}, binary.AppendUvarint(nil, 1<<30+1)...)
	corruptOnly(t, l, seal(t, l, append(body, body[1:]...)), "too many elements")
}

var mutations = flag.Int("mutations", 2000, "damaged frames for each type in TestDecode_survives_damage_under_a_right_checksum")

// survive is a fast fuzzer that needs no corpus: damaged bodies of real rows with a right checksum.
func survive[T any](t *testing.T, rows []T) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		c := newCodec[T](t)
		frame := encode(t, c, rows)
		const seed = 20
		rng := rand.New(rand.NewPCG(seed, seed))
		var src []byte
		decoded := 0
		for range *mutations {
			src = append(src[:0], frame[:len(frame)-4]...)
			for range 1 + rng.IntN(3) {
				at := 8 + rng.IntN(len(src)-8)
				switch rng.IntN(5) {
				case 0:
					src[at] ^= 1 << rng.IntN(8)
				case 1:
					src[at] = byte(rng.IntN(256))
				case 2:
					src[at] = byte(rng.IntN(4))
				case 3:
					src = slices.Insert(src, at, byte(rng.IntN(256)))
				case 4:
					if len(src) > 9 {
						src = slices.Delete(src, at, at+1)
					}
				}
			}
			src = binary.LittleEndian.AppendUint32(src, crc(src))
			got, err := c.Decode(src)
			if err != nil && !errors.Is(err, codec.ErrCorrupt) {
				t.Fatalf("seed %d: % x: %v", seed, src, err)
			}
			if err == nil && len(got) <= 8*len(src) {
				decoded++
				if _, err := c.Append(nil, got); err != nil {
					t.Fatalf("seed %d: % x: what was decoded does not encode: %v", seed, src, err)
				}
			}
		}
		t.Logf("%d of %d damaged frames still decode", decoded, *mutations)
	})
}

func TestDecode_survives_damage_under_a_right_checksum(t *testing.T) {
	survive(t, []Pair[string, int64]{{"a", 1}, {"0123456789", 2}})
	survive(t, nestedRows())
	survive(t, treeRows())
	survive(t, anyRows())
	survive(t, sampleTimes)
	survive(t, []Custom{{1}, {1 << 40}})
	survive(t, []Chain{nil, {}, {{1, nil}, {2, Chain{{3, Chain{}}}}}})
	survive(t, []map[any]map[float64]*bool{{1: {1.5: ptr(true), 2.5: nil}, "a": nil}})
	survive(t, []map[struct{}][]struct{}{{{}: make([]struct{}, 3)}, nil})
	survive(t, []Pair[[3]any, [2]map[string][]byte]{{[3]any{1, "a"}, [2]map[string][]byte{{"k": {1}}}}})
}

// fuzz decodes made-up bodies under a right checksum. ours says that every byte of a frame is decided by this package, so that
// what decodes must encode to as many bytes; not to the same bytes, since entries of a map may have been in another order.
func fuzz[T any](f *testing.F, ours bool, seeds ...[]T) {
	c := newCodec[T](f)
	for _, rows := range seeds {
		frame := encode(f, c, rows)
		f.Add(frame[8 : len(frame)-4])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := c.Decode(body); err != nil && !errors.Is(err, codec.ErrCorrupt) {
			t.Fatalf("not a frame: %v", err)
		}
		src := seal(t, c, body)
		var rows []T
		var err error
		// The margin is for what the fuzzer itself allocates meanwhile.
		if got := allocated(func() { rows, err = c.Decode(src) }); got > uint64(1<<16+128*len(src)) {
			t.Fatalf("%d bytes allocated for a frame of %d", got, len(src))
		}
		if err != nil {
			if !errors.Is(err, codec.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if len(rows) > 8*len(src) {
			return // rows without content: nothing more to check, and walking them takes long
		}
		if again, err := c.Append(nil, rows); err != nil || ours && len(again) != len(src) {
			t.Fatalf("what was decoded encodes to %d bytes, not %d: %v", len(again), len(src), err)
		}
	})
}

func FuzzDecode_pairs(f *testing.F) {
	fuzz(f, true, []Pair[string, int64]{{"a", 1}, {"0123456789", -1}})
}
func FuzzDecode_nested(f *testing.F) { fuzz(f, true, nestedRows(), nestedRows()[:1]) }
func FuzzDecode_tree(f *testing.F)   { fuzz(f, true, treeRows()) }
func FuzzDecode_any(f *testing.F)    { fuzz(f, true, anyRows()) }
func FuzzDecode_maps(f *testing.F) {
	fuzz(f, true, []map[any]map[float64]*bool{{1: {1.5: ptr(true), 2.5: nil}, "a": nil}})
}
func FuzzDecode_own_methods(f *testing.F) {
	fuzz(f, false, []Pair[Money, Custom]{{Money{1}, Custom{1}}})
}

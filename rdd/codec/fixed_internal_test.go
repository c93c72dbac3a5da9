package codec

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"
)

// A platform with an int of 4 bytes is tested on any other: the column is told that memory has 4 bytes a number.
func TestFixedColumn_widens_the_int_of_a_small_platform(t *testing.T) {
	c := fixedColumn{mem: 4, wire: 8, signed: true, count: 2}
	rows := [][2]int32{{1, -1}, {math.MaxInt32, math.MinInt32}}
	e := encoder{}
	if err := c.append(&e, view{unsafe.Pointer(&rows[0]), 8, 2}); err != nil {
		t.Fatal(err)
	}
	var want []byte
	for _, x := range []int64{1, -1, math.MaxInt32, math.MinInt32} {
		want = binary.LittleEndian.AppendUint64(want, uint64(x))
	}
	if !slices.Equal(e.dst, want) {
		t.Fatalf("got % x, want % x", e.dst, want)
	}
	got := make([][2]int32, 2)
	if err := c.decode(&reader{src: want}, view{unsafe.Pointer(&got[0]), 8, 2}); err != nil || !slices.Equal(got, rows) {
		t.Errorf("got %v, %v; want %v", got, err, rows)
	}
	binary.LittleEndian.PutUint64(want, 1<<31)
	if err := c.decode(&reader{src: want}, view{unsafe.Pointer(&got[0]), 8, 2}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt for a number that does not fit", err)
	}
}

// The loops for a foreign byte order and the copies for our own must write the same bytes, at every width.
func TestFixedColumn_loops_write_what_copies_write(t *testing.T) {
	rows := []uint64{0x0102030405060708, math.MaxUint64, 0, 1 << 63}
	for _, width := range []int{1, 2, 4, 8} {
		c := fixedColumn{mem: width, wire: width, count: 1}
		for _, stride := range []uintptr{8, uintptr(width)} {
			v := view{unsafe.Pointer(&rows[0]), stride, len(rows)}
			e := encoder{}
			if err := c.append(&e, v); err != nil {
				t.Fatal(err)
			}
			slow := make([]byte, len(e.dst))
			c.widen(slow, v)
			if !slices.Equal(e.dst, slow) {
				t.Errorf("width %d stride %d: got % x, want % x", width, stride, e.dst, slow)
			}
			got := make([]uint64, len(rows))
			gv := view{unsafe.Pointer(&got[0]), stride, len(rows)}
			if err := c.decode(&reader{src: slow}, gv); err != nil {
				t.Fatal(err)
			}
			again := make([]byte, len(slow))
			c.widen(again, gv)
			if !slices.Equal(again, slow) {
				t.Errorf("width %d stride %d: decoded % x, want % x", width, stride, again, slow)
			}
		}
	}
}

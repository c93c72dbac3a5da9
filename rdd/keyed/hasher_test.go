package keyed

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

type point struct {
	X, Y float64
	Name string
}

func TestHasherFor_refuses_address_keys_G5(t *testing.T) {
	type deep struct {
		A int
		B [2]struct{ Owner *int }
	}
	tests := []struct {
		name       string
		err        error
		typ, where string
	}{
		{"pointer", refusal[*int](), "*int", "key"},
		{"channel", refusal[chan int](), "chan int", "key"},
		{"unsafe pointer", refusal[unsafe.Pointer](), "unsafe.Pointer", "key"},
		{"uintptr", refusal[uintptr](), "uintptr", "key"},
		{"nested", refusal[deep](), "*int", "key.B[].Owner"},
	}
	for _, tt := range tests {
		var bad *KeyTypeError
		if !errors.Is(tt.err, ErrBadKeyType) || !errors.As(tt.err, &bad) {
			t.Errorf("%s: got %v, want ErrBadKeyType", tt.name, tt.err)
			continue
		}
		if bad.Type != tt.typ || bad.Path != tt.where || bad.Reason == "" {
			t.Errorf("%s: got %+v, want type %s at %s", tt.name, bad, tt.typ, tt.where)
		}
	}
}

func refusal[K comparable]() error {
	_, err := HasherFor[K]()
	return err
}

func TestCheck_refuses_dynamic_types_G5(t *testing.T) {
	type holder struct{ X any }
	h := mustHasher[any](t)
	if !h.Dynamic() || h.Plain() {
		t.Fatalf("any: Dynamic %v, Plain %v", h.Dynamic(), h.Plain())
	}
	for _, k := range []any{new(int), make(chan int), []int{1}, map[int]int{}, func() {}, uintptr(1), holder{[]int{1}}, holder{holder{new(int)}}, [1]any{[]int{}}} {
		err := h.Check(k)
		if !errors.Is(err, ErrBadKeyType) {
			t.Errorf("Check(%T): got %v, want ErrBadKeyType", k, err)
		}
		h.Hash(k) // must not panic
		if h.Partition(k, 7) < 0 || h.Equal(k, k) {
			t.Errorf("%T: Partition %d, Equal %v", k, h.Partition(k, 7), h.Equal(k, k))
		}
	}
	if got := h.Hash([]int{1}); got != 0 {
		t.Errorf("hash of a refused key: got %d, want 0", got)
	}
	for _, k := range []any{nil, 1, "a", 1.5, point{}, holder{}, holder{holder{3}}, [2]any{1, "a"}, weekday(3)} {
		if err := h.Check(k); err != nil {
			t.Errorf("Check(%T): %v", k, err)
		}
	}
	if err := mustHasher[holder](t).Check(holder{&struct{}{}}); !errors.Is(err, ErrBadKeyType) {
		t.Errorf("Check of a pointer in a field: got %v", err)
	}
	if mustHasher[point](t).Dynamic() || mustHasher[string](t).Dynamic() {
		t.Error("keys without interfaces are said to be dynamic")
	}
}

func TestPartition_is_floorMod_of_integers_P2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		k := rapid.Int64().Draw(t, "k")
		want := int((k%int64(n) + int64(n)) % int64(n))
		if got := mustInts.Partition(k, n); got != want {
			t.Fatalf("Partition(%d, %d) = %d, want %d", k, n, got, want)
		}
		if got := mustAny.Partition(k, n); got != want {
			t.Fatalf("Partition(any(%d), %d) = %d, want %d", k, n, got, want)
		}
		u := uint64(k)
		if got := mustUints.Partition(u, n); got != int(u%uint64(n)) {
			t.Fatalf("Partition(uint64 %d, %d) = %d", u, n, got)
		}
		if got := mustAny.Partition(u, n); got != int(u%uint64(n)) {
			t.Fatalf("Partition(any(uint64 %d), %d) = %d", u, n, got)
		}
		s := rapid.String().Draw(t, "s")
		if got := mustAny.Partition(s, n); got != int(hashString(s)%uint64(n)) {
			t.Fatalf("Partition(any(%q), %d) = %d", s, n, got)
		}
	})
}

var (
	mustInts, _  = HasherFor[int64]()
	mustUints, _ = HasherFor[uint64]()
	mustAny, _   = HasherFor[any]()
)

func TestPartition_edges(t *testing.T) {
	if got := mustInts.Partition(math.MinInt64, 3); got != 1 {
		t.Errorf("MinInt64 mod 3: got %d, want 1", got)
	}
	if got := mustInts.Partition(-1, 4); got != 3 {
		t.Errorf("-1 mod 4: got %d, want 3", got)
	}
	for _, n := range []int{0, -1} {
		if got := mustInts.Partition(5, n); got != 0 {
			t.Errorf("Partition(5, %d) = %d, want 0", n, got)
		}
	}
	if got := mustAny.Partition(nil, 7); got != 0 {
		t.Errorf("nil key: partition %d, want 0", got)
	}
	if got := mustHasher[weekday](t).Partition(-3, 7); got != 4 {
		t.Errorf("named int8 -3 mod 7: got %d, want 4", got)
	}
	if got := mustHasher[fmt.Stringer](t).Partition(weekday(-3), 7); got != 4 {
		t.Errorf("Stringer of -3 mod 7: got %d, want 4", got)
	}
}

func TestCanonical_G3(t *testing.T) {
	minus0 := math.Copysign(0, -1)
	odd := math.Float64frombits(0x7ff0000000000001)
	isCanon := func(f float64) bool { b := math.Float64bits(f); return b == nan64 || b == 0 }

	if c := mustHasher[float64](t).Canonical(minus0); !isCanon(c) {
		t.Errorf("-0: got %x", math.Float64bits(c))
	}
	p := mustHasher[point](t).Canonical(point{odd, minus0, "p"})
	if !isCanon(p.X) || !isCanon(p.Y) || p.Name != "p" {
		t.Errorf("point: got %+v", p)
	}
	a := mustHasher[[2][2]float64](t).Canonical([2][2]float64{{1, odd}, {minus0, 2}})
	if !isCanon(a[0][1]) || !isCanon(a[1][0]) || a[0][0] != 1 || a[1][1] != 2 {
		t.Errorf("array: got %v", a)
	}
	c := mustHasher[complex64](t).Canonical(complex(float32(math.Copysign(0, -1)), float32(odd)))
	if math.Float32bits(real(c)) != 0 || math.Float32bits(imag(c)) != nan32 {
		t.Errorf("complex: got %v", c)
	}
	in := any(point{odd, minus0, "p"})
	out := mustAny.Canonical(in).(point)
	if !isCanon(out.X) || !isCanon(out.Y) || out.Name != "p" {
		t.Errorf("any: got %+v", out)
	}
	if was := in.(point); math.Float64bits(was.X) != math.Float64bits(odd) {
		t.Error("Canonical changed the value it was given")
	}
	if got := mustAny.Canonical(nil); got != nil {
		t.Errorf("nil: got %v", got)
	}
}

func TestEqual_G3(t *testing.T) {
	nan, minus0 := math.NaN(), math.Copysign(0, -1)
	h := mustHasher[point](t)
	if !h.Equal(point{nan, 0, "a"}, point{-nan, minus0, "a"}) {
		t.Error("NaN and zeros differ inside a struct")
	}
	if h.Equal(point{1, 2, "a"}, point{1, 2, "b"}) || h.Equal(point{1, 2, "a"}, point{1, 3, "a"}) {
		t.Error("different points are equal")
	}
	tests := []struct {
		a, b any
		want bool
	}{
		{1, int64(1), false}, {1, 1, true}, {nil, nil, true}, {nil, 0, false}, {nan, nan, true}, {0.0, minus0, true},
		{float32(1), float64(1), false}, {"a", "a", true}, {"1", 1, false}, {[2]byte{1, 2}, [2]byte{1, 2}, true},
		{[2]byte{1, 2}, [2]byte{1, 3}, false}, {[1]any{nan}, [1]any{nan}, true}, {weekday(1), int8(1), false},
		{point{X: nan}, point{X: nan}, true}, {true, true, true}, {true, false, false},
	}
	for _, tt := range tests {
		if got := mustAny.Equal(tt.a, tt.b); got != tt.want {
			t.Errorf("Equal(%T %v, %T %v) = %v, want %v", tt.a, tt.a, tt.b, tt.b, got, tt.want)
		}
		if tt.want && mustAny.Hash(tt.a) != mustAny.Hash(tt.b) {
			t.Errorf("%v and %v are equal and hash differently", tt.a, tt.b)
		}
	}
}

func TestHashAllocatesNothing(t *testing.T) {
	hp, hs := mustHasher[point](t), mustHasher[string](t)
	p, s := point{1, 2, "abc"}, "a longer string than fifteen"
	k, nested := any("abc"), any(point{1, 2, "abc"})
	if n := testing.AllocsPerRun(100, func() {
		hp.Hash(p)
		hp.Canonical(p)
		hp.Equal(p, p)
		hs.Hash(s)
		hs.Partition(s, 7)
		mustInts.Partition(5, 7)
		mustAny.Hash(k)
		mustAny.Hash(nested)
		mustAny.Partition(nested, 7)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

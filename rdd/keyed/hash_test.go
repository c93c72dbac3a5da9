package keyed

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func hashOf[K comparable](t testing.TB, k K) uint64 {
	t.Helper()
	return mustHasher[K](t).Hash(k)
}

// The vectors of docs/keys.md. They come from an implementation in another language and must never change.
func TestHashGolden(t *testing.T) {
	tests := []struct {
		name string
		got  uint64
		want uint64
	}{
		{`""`, hashOf(t, ""), 0x1ff5c2923a788d2c},
		{`"a"`, hashOf(t, "a"), 0xaa892c120ccf3d6b},
		{`"\x00"`, hashOf(t, "\x00"), 0xf01548bf96ffcf80},
		{`"abc"`, hashOf(t, "abc"), 0x21f1429c1eb0cd78},
		{`"word"`, hashOf(t, "word"), 0x02e4e8485d938524},
		{`"seven77"`, hashOf(t, "seven77"), 0x65bcf7ee0d3d409c},
		{`"eight888"`, hashOf(t, "eight888"), 0x62d6969d88351b87},
		{`"nine99999"`, hashOf(t, "nine99999"), 0xc7c9fc323c86b438},
		{`"fifteen letters"`, hashOf(t, "fifteen letters"), 0x67d7d5ed6b3079fa},
		{`"sixteen letters!"`, hashOf(t, "sixteen letters!"), 0xb4f97ffdbb5bb278},
		{`"seventeen letters"`, hashOf(t, "seventeen letters"), 0x905b59752550d0b8},
		{`"\xff\xfe"`, hashOf(t, "\xff\xfe"), 0x7aa7d8997b6cd8df},
		{`100 times "x"`, hashOf(t, strings.Repeat("x", 100)), 0xcb72dc04935fc968},
		{"int64(-1)", hashOf(t, int64(-1)), 0xffffffffffffffff},
		{"uint8(255)", hashOf(t, uint8(255)), 0xff},
		{"int8(-128)", hashOf(t, int8(-128)), 0xffffffffffffff80},
		{"true", hashOf(t, true), 0x13da3eca8d9be8ba},
		{"false", hashOf(t, false), 0xf9192aebc956dae2},
		{"1.5", hashOf(t, 1.5), 0x99797d860f31333a},
		{"0.0", hashOf(t, 0.0), 0xf9192aebc956dae2},
		{"-0.0", hashOf(t, math.Copysign(0, -1)), 0xf9192aebc956dae2},
		{"NaN", hashOf(t, math.NaN()), 0x84c93a8db8267748},
		{"another NaN", hashOf(t, math.Float64frombits(0xfff8000000000123)), 0x84c93a8db8267748},
		{"float32(1.5)", hashOf(t, float32(1.5)), 0x1432559fabfed843},
		{"float32(NaN)", hashOf(t, float32(math.NaN())), 0x45231109b66ee34b},
		{"1+2i", hashOf(t, 1+2i), 0x00327ab45dead5af},
		{"[4]byte", hashOf(t, [4]byte{1, 2, 3, 4}), 0x92570e0999720e45},
		{"[2]int32", hashOf(t, [2]int32{1, -1}), 0x97b204278f86f2f1},
		{"struct", hashOf(t, struct {
			S string
			N int64
		}{"a", -7}), 0xb43653abe8332889},
		{"nested struct, blank field", hashOf(t, struct {
			S struct{ S string }
			_ float64
			N int64
		}{S: struct{ S string }{"a"}, N: -7}), 0xb43653abe8332889},
		{"struct of any", hashOf(t, struct{ A, B any }{nil, "a"}), 0xe14f333e91a5903d},
		{"any(nil)", hashOf[any](t, nil), 0},
		{"any(int(-5))", hashOf[any](t, -5), 0xfffffffffffffffb},
		{"any(int16(-5))", hashOf[any](t, int16(-5)), 0xfffffffffffffffb},
		{`any("abc")`, hashOf[any](t, "abc"), 0x21f1429c1eb0cd78},
		{"any(1.5)", hashOf[any](t, 1.5), 0x99797d860f31333a},
		{"any(float32(1.5))", hashOf[any](t, float32(1.5)), 0x1432559fabfed843},
		{"any([2]int32)", hashOf[any](t, [2]int32{1, -1}), 0x97b204278f86f2f1},
		{"Stringer(named int)", hashOf[fmt.Stringer](t, weekday(-5)), 0xfffffffffffffffb},
		{"struct{}", hashOf(t, struct{}{}), 0x8ebc6af09c88c6e3},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("hash of %s: got %#016x, want %#016x", tt.name, tt.got, tt.want)
		}
	}
}

type weekday int8

func (w weekday) String() string { return "day" }

// packPlainly is pack byte by byte.
func packPlainly(s string) (lo, hi uint64) {
	for i := range len(s) {
		if i < 8 {
			lo |= uint64(s[i]) << (8 * i)
		} else {
			hi |= uint64(s[i]) << (8 * (i - 8))
		}
	}
	return lo, hi | uint64(len(s))<<56
}

func TestPackIsTheBytesAndTheLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.Byte(), 0, inlineMax).Draw(t, "s"))
		lo, hi := pack(s)
		if wlo, whi := packPlainly(s); lo != wlo || hi != whi {
			t.Fatalf("pack(%q) = %x, %x, want %x, %x", s, lo, hi, wlo, whi)
		}
		probes := make([]probe, 1)
		packRows(keyRows([]string{s}), nil, probes)
		if p := probes[0]; p.lo != lo || p.hi != hi || p.spread != hashString(s) {
			t.Fatalf("packRows(%q) = %x, want %x, %x, %x", s, p, lo, hi, hashString(s))
		}
	})
}

// Keys as programs have them must spread over partitions and over the homes of a table; chi-squared over 64 bins has mean 63
// and deviation 11.
func TestHashSpreads(t *testing.T) {
	families := map[string]func(i int) string{
		"decimal":  func(i int) string { return fmt.Sprint(i) },
		"padded":   func(i int) string { return fmt.Sprintf("user-%08d", i) },
		"prefixed": func(i int) string { return fmt.Sprintf("k%d", i) },
		"suffixed": func(i int) string { return fmt.Sprintf("%d.example", i) },
		"long":     func(i int) string { return fmt.Sprintf("https://example.org/page/%d", i) },
		"letters": func(i int) string {
			return string([]byte{'a' + byte(i%26), 'a' + byte(i/26%26), 'a' + byte(i/676%26), 'a' + byte(i/17576)})
		},
	}
	const n, bins = 64_000, 64
	for name, key := range families {
		var low, high, odd [bins]int
		for i := range n {
			h := hashString(key(i))
			low[h%bins]++
			high[h>>58]++
			odd[h%63]++
		}
		for what, got := range map[string][]int{"modulo 64": low[:], "topmost bits": high[:], "modulo 63": odd[:63]} {
			want := float64(n) / float64(len(got))
			chi := 0.0
			for _, c := range got {
				chi += (float64(c) - want) * (float64(c) - want) / want
			}
			if chi > 120 {
				t.Errorf("%s keys, %s: chi-squared %.0f", name, what, chi)
			}
		}
	}
}

func TestIntegersSpread(t *testing.T) {
	for _, step := range []int64{1, 2, 1000, 1 << 20, 1 << 40, 1 << 52, -1} {
		seen := make(map[uint64]bool)
		for i := range int64(4096) {
			seen[mixInt(uint64(i*step))>>48] = true
		}
		if len(seen) < 3700 {
			t.Errorf("4096 integers %d apart have %d different homes of 65536", step, len(seen))
		}
	}
}

package keyed

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"
)

// The constants of the key hash. They and everything below that uses them may never change: hashes place keys in partitions
// that outlive the process. docs/keys.md repeats them.
const (
	hashA = 0xa0761d6478bd642f
	hashB = 0xe7037ed1a0b428db
	hashC = 0x8ebc6af09c88c6e3
	hashD = 0x589965cc75374cc3

	nan64 = 0x7ff8000000000000 // the one NaN
	nan32 = 0x7fc00000
)

// inlineMax is the length of the longest string that fits in two words next to its own length.
const inlineMax = 15

// mix returns the two halves of the 128-bit product x*y folded onto each other.
func mix(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

func load64(p unsafe.Pointer, at int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, at))[:])
}

func load32(p unsafe.Pointer, at int) uint64 {
	return uint64(binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(p, at))[:]))
}

// pack returns the at most 15 bytes of s as two little-endian words, with the length in the topmost byte.
//
// Lengths from 4 take no branch: text mixes lengths below and above 8 and a mispredicted branch costs more than the extra
// loads. The loads overlap where the string is shorter than what they could carry, and the bytes met twice fall on
// themselves. Nothing outside the string is read.
func pack(s string) (lo, hi uint64) {
	n := len(s)
	p := unsafe.Pointer(unsafe.StringData(s))
	if n >= 4 {
		m := min(n, 8)
		lo = load32(p, 0) | load32(p, m-4)<<(uint(m-4)*8&63)
		// The last eight bytes; below length 8 the last four, twice, which the shift then throws away.
		half := n >> 3 << 2
		tail := load32(p, n-4-half) | load32(p, n-4)<<32
		hi = tail >> (uint(16-n) * 8)
	} else if n > 0 {
		lo = uint64(s[0]) | uint64(s[n>>1])<<(n>>1*8) | uint64(s[n-1])<<((n-1)*8)
	}
	return lo, hi | uint64(n)<<56
}

// hashWords returns the hash of a string that pack turned into two words.
func hashWords(lo, hi uint64) uint64 { return mix(lo^hashA, hi^hashB) }

// hashLong returns the hash of a string of 16 bytes or more.
func hashLong(s string) uint64 {
	n := len(s)
	p := unsafe.Pointer(unsafe.StringData(s))
	h := uint64(n) ^ hashC
	for i := 0; i < n-16; i += 16 {
		h = mix(load64(p, i)^hashA, load64(p, i+8)^h)
	}
	h = mix(load64(p, n-16)^hashA, load64(p, n-8)^h)
	return mix(h^hashB, hashD)
}

func hashString(s string) uint64 {
	if len(s) <= inlineMax {
		return hashWords(pack(s))
	}
	return hashLong(s)
}

// hashLeaf returns h carried on over one more leaf of a composite key.
func hashLeaf(h, leaf uint64) uint64 { return mix(leaf^hashA, h^hashB) }

// bits64 returns the bits of f, the same for every NaN and for both zeros.
func bits64(f float64) uint64 {
	if f != f {
		return nan64
	}
	if f == 0 {
		return 0
	}
	return math.Float64bits(f)
}

// bits32 is bits64 for float32.
func bits32(f float32) uint64 {
	if f != f {
		return nan32
	}
	if f == 0 {
		return 0
	}
	return uint64(math.Float32bits(f))
}

package keyed

import (
	"reflect"
	"strings"
	"unsafe"
)

// A keyKind picks the way a table holds its keys.
type keyKind uint8

const (
	keysAny    keyKind = iota // whole keys beside their hash
	keysString                // short ones in two words, long ones in an arena
	keysInt                   // one word
)

// Hasher says when two keys are one key, what a key hashes to and which partition it belongs to.
// It may be used from any number of goroutines at once.
type Hasher[K comparable] struct {
	layout *layout
	kind   keyKind
}

// HasherFor returns the hasher of the key type K.
//
// Cost: takes K apart by reflection, once; hashing then uses none, but for interface keys that hold other types than string,
// int, int64 and float64, whose dynamic type is looked up.
// Errors: *KeyTypeError, which is ErrBadKeyType, when K is or holds a pointer, a channel, an unsafe.Pointer or a uintptr.
func HasherFor[K comparable]() (*Hasher[K], error) {
	l, bad := newLayout(reflect.TypeFor[K](), new(types), "key")
	if bad != nil {
		return nil, bad
	}
	h := &Hasher[K]{layout: l}
	switch {
	case l.top && l.whole == leafString:
		h.kind = keysString
	case l.top && l.whole.isInt():
		h.kind = keysInt
	}
	return h, nil
}

// Hash returns the fixed 64-bit hash of k, defined in docs/keys.md: the value itself for integers, sign kept, and a
// multiply-fold hash of the canonical form for all else. A nil interface, and a key that Check refuses, is 0.
func (h *Hasher[K]) Hash(k K) uint64 {
	switch h.kind {
	case keysString:
		return hashString(*(*string)(unsafe.Pointer(&k)))
	case keysInt:
		return h.layout.whole.word(unsafe.Pointer(&k))
	default:
		return h.layout.hash(unsafe.Pointer(&k))
	}
}

// Partition returns the partition of k among n: the value modulo n, never negative, for integers; the hash modulo n for all
// else; 0 for a nil interface, and 0 when n is not positive.
func (h *Hasher[K]) Partition(k K, n int) int {
	return h.place(&k, h.Hash(k), n)
}

// place returns the partition among n of the key at k, whose hash is known.
func (h *Hasher[K]) place(k *K, hash uint64, n int) int {
	if n <= 0 {
		return 0
	}
	signed := false
	switch {
	case h.kind == keysInt:
		signed = h.layout.whole.isSigned()
	case h.kind == keysAny && h.layout.top:
		signed = h.layout.holdsSigned(unsafe.Pointer(k))
	}
	return modulo(hash, n, signed)
}

// modulo returns hash modulo n, taking hash for a signed number or not. n is positive.
func modulo(hash uint64, n int, signed bool) int {
	if n&(n-1) == 0 {
		// Two's complement makes the masked value right for both.
		return int(hash & uint64(n-1))
	}
	if !signed {
		return int(hash % uint64(n))
	}
	m := int64(hash) % int64(n)
	if m < 0 {
		m += int64(n)
	}
	return int(m)
}

// holdsSigned reports whether the interface at p holds a signed integer.
func (l *layout) holdsSigned(p unsafe.Pointer) bool {
	switch x := l.whole.boxed(p).(type) {
	case nil, string:
		return false
	default:
		in, bad := l.types.of(reflect.TypeOf(x))
		return bad == nil && in.top && in.whole.isSigned()
	}
}

// Canonical returns k with every NaN turned into one NaN and every negative zero into zero, also inside structs, arrays and
// interfaces.
func (h *Hasher[K]) Canonical(k K) K {
	if h.layout.plain || h.layout.clean(unsafe.Pointer(&k)) {
		return k
	}
	c := k
	h.layout.settle(unsafe.Pointer(&c), false)
	return c
}

// Own returns k with bytes of its own where K is a string: one that SelectLent has lent keeps a whole table alive.
func (h *Hasher[K]) Own(k K) K {
	if h.kind == keysString {
		s := strings.Clone(*(*string)(unsafe.Pointer(&k)))
		return *(*K)(unsafe.Pointer(&s))
	}
	return k
}

// Lends reports whether SelectLent lends keys of the type.
func (h *Hasher[K]) Lends() bool { return h.kind == keysString }

// Equal reports whether a and b are one key: as == does, except that NaN equals NaN and that it never panics.
func (h *Hasher[K]) Equal(a, b K) bool {
	if h.layout.plain {
		return a == b
	}
	return h.layout.equal(unsafe.Pointer(&a), unsafe.Pointer(&b))
}

// Plain reports whether == is right for K and Canonical changes nothing.
func (h *Hasher[K]) Plain() bool { return h.layout.plain }

// Dynamic reports whether K is or holds an interface, so that Check has to look at every key.
func (h *Hasher[K]) Dynamic() bool { return h.layout.dynamic }

// Check returns nil when k can be a key, always so unless Dynamic.
//
// Errors: *KeyTypeError, which is ErrBadKeyType, when an interface in k holds a type that cannot be a key.
func (h *Hasher[K]) Check(k K) error {
	if bad := h.layout.check(unsafe.Pointer(&k)); bad != nil {
		return bad
	}
	return nil
}

package state

import (
	"encoding/binary"
	"fmt"

	"github.com/leat-io/leat/rdd/codec"
)

// A frameReader reads the parts of a frame. Once something is not there, it is bad.
type frameReader struct {
	rest []byte
	bad  bool
}

func (p *frameReader) byte() byte {
	if b := p.take(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads a number of at most so much.
func (p *frameReader) number(most int) int {
	x, n := binary.Uvarint(p.rest)
	if n <= 0 || x > uint64(most) {
		p.bad = true
		return 0
	}
	p.rest = p.rest[n:]
	return int(x)
}

func (p *frameReader) take(n int) []byte {
	if n > len(p.rest) {
		p.bad = true
		return nil
	}
	b := p.rest[:n:n]
	p.rest = p.rest[n:]
	return b
}

// gone returns a copy of the bits of n entries, nil where none is gone.
func (p *frameReader) gone(n int) []byte {
	switch p.byte() {
	case 0:
		return nil
	case 1:
		return append([]byte(nil), p.take((n+7)/8)...)
	}
	p.bad = true
	return nil
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("decode state: %w", &codec.CorruptError{Reason: fmt.Sprintf(format, args...)})
}

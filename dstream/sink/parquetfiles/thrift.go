package parquetfiles

import (
	"encoding/binary"
	"errors"
)

// The decoder of footers and page headers allocates what a length says before it looks for the bytes. A skimmer goes over them
// first and believes nothing.
//
// Source: Apache Thrift, "Thrift Compact protocol encoding".
type skimmer struct {
	data  []byte
	at    int
	items int // of lists, that may still come
	err   error
}

// maxItems bounds the elements of all lists of a footer together, maxDepth how deep structs are within each other.
const (
	maxItems = 4 << 20
	maxDepth = 32
)

// Types of the compact protocol.
const (
	compactTrue   = 1
	compactFalse  = 2
	compactByte   = 3
	compactI16    = 4
	compactI32    = 5
	compactI64    = 6
	compactDouble = 7
	compactBinary = 8
	compactList   = 9
	compactSet    = 10
	compactMap    = 11
	compactStruct = 12
)

var (
	errShort = errors.New("it ends too early")
	errShape = errors.New("it is not what Parquet has there")
)

func (s *skimmer) fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.at = len(s.data)
}

func (s *skimmer) byte() byte {
	if s.at >= len(s.data) {
		s.fail(errShort)
		return 0
	}
	s.at++
	return s.data[s.at-1]
}

func (s *skimmer) uvarint() uint64 {
	v, n := binary.Uvarint(s.data[s.at:])
	switch {
	case n == 0:
		s.fail(errShort)
	case n < 0:
		s.fail(errShape)
	default:
		s.at += n
	}
	return v
}

func (s *skimmer) varint() int64 {
	u := s.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (s *skimmer) skip(n uint64) {
	if n > uint64(len(s.data)-s.at) {
		s.fail(errShort)
		return
	}
	s.at += int(n)
}

// structure goes over a struct and calls number with the numbers that are fields of it.
func (s *skimmer) structure(depth int, number func(field int64, v int64)) {
	if depth > maxDepth {
		s.fail(errShape)
	}
	field := int64(0)
	for s.err == nil {
		b := s.byte()
		if b == 0 {
			return
		}
		if delta := int64(b >> 4); delta != 0 {
			field += delta
		} else {
			field = s.varint()
		}
		switch kind := b & 15; kind {
		case compactTrue, compactFalse:
		case compactI16, compactI32, compactI64:
			if v := s.varint(); s.err == nil && number != nil {
				number(field, v)
			}
		default:
			s.value(kind, depth)
		}
	}
}

// value goes over a value; a boolean is one of a list here.
func (s *skimmer) value(kind byte, depth int) {
	switch kind {
	case compactTrue, compactFalse, compactByte:
		s.skip(1)
	case compactI16, compactI32, compactI64:
		s.uvarint()
	case compactDouble:
		s.skip(8)
	case compactBinary:
		s.skip(s.uvarint())
	case compactStruct:
		s.structure(depth+1, nil)
	case compactList, compactSet:
		head := s.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = s.uvarint()
		}
		s.several(n, depth, head&15)
	case compactMap:
		n := s.uvarint()
		if n == 0 {
			return
		}
		kinds := s.byte()
		s.several(n, depth, kinds>>4, kinds&15)
	default:
		s.fail(errShape)
	}
}

// several goes over n elements of the kinds.
func (s *skimmer) several(n uint64, depth int, kinds ...byte) {
	if n > uint64(len(s.data)-s.at) || n > uint64(s.items) { // each takes a byte at least
		s.fail(errShort)
		return
	}
	if depth > maxDepth {
		s.fail(errShape)
		return
	}
	s.items -= int(n)
	for ; n > 0 && s.err == nil; n-- {
		for _, kind := range kinds {
			s.value(kind, depth+1)
		}
	}
}

package driverlog

import (
	"encoding/binary"
	"math"
)

// A decoder reads fields off data and remembers the first one that does not fit; after that it
// returns zeros. It accepts only what the encoders write, so that one value has one encoding.
type decoder struct {
	data []byte
	at   int
	err  error
}

func (d *decoder) corrupt(what string) {
	if d.err == nil {
		d.err = &CorruptError{What: what, Offset: d.at}
	}
}

// require records what as corrupt unless ok.
func (d *decoder) require(ok bool, what string) {
	if !ok {
		d.corrupt(what)
	}
}

// version reads a format version, of which 1 to known are.
func (d *decoder) version(known byte) byte {
	v := d.byte("version")
	if d.err == nil && (v == 0 || v > known) {
		d.err = &VersionError{Got: int(v), Known: int(known)}
	}
	return v
}

func (d *decoder) byte(what string) byte {
	if d.err != nil || d.at >= len(d.data) {
		d.corrupt(what)
		return 0
	}
	d.at++
	return d.data[d.at-1]
}

func (d *decoder) uvarint(what string) uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.data[d.at:])
	// A last byte of zero would be a longer form of a shorter number.
	if n <= 0 || n > 1 && d.data[d.at+n-1] == 0 {
		d.corrupt(what)
		return 0
	}
	d.at += n
	return v
}

func (d *decoder) varint(what string) int64 {
	u := d.uvarint(what)
	return int64(u>>1) ^ -int64(u&1)
}

// count reads a number of things that must not be more than limit.
func (d *decoder) count(what string, limit int) int {
	n := d.uvarint(what)
	if n > uint64(limit) {
		d.corrupt(what)
		return 0
	}
	return int(n)
}

// bytes returns a part of data, not a copy.
func (d *decoder) bytes(what string, limit int) []byte {
	n := d.count(what, limit)
	if d.err != nil || n > len(d.data)-d.at {
		d.corrupt(what)
		return nil
	}
	d.at += n
	return d.data[d.at-n : d.at]
}

func (d *decoder) inputs() []Input {
	n := d.count("inputs", MaxInputs)
	// Each input takes two bytes at least, so the count is checked before room is made for it.
	if n > (len(d.data)-d.at)/2 {
		d.corrupt("inputs")
	}
	if d.err != nil || n == 0 {
		return nil
	}
	inputs := make([]Input, 0, n)
	for range n {
		stream := d.varint("stream")
		d.require(stream >= math.MinInt32 && stream <= math.MaxInt32, "stream")
		inputs = append(inputs, Input{Stream: int32(stream), Data: d.bytes("input", MaxPayload)})
	}
	d.require(inputBytes(inputs) <= MaxPayload, "inputs")
	if d.err != nil {
		return nil
	}
	return cloneInputs(inputs)
}

// end checks that everything has been read.
func (d *decoder) end() { d.require(d.at == len(d.data), "trailing bytes") }

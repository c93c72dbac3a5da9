package spool

import (
	"encoding/binary"
	"fmt"
)

// A part is a partition's attempt that counts. Partitions without rows have none.
type part struct {
	index   int
	attempt string
	rows    int64
	sum     uint32 // the checksum after its last row
}

// A sealed is what the driver log keeps of a batch until it is committed.
type sealed struct {
	batch int64
	extra int64
	parts []part // partitions rise
}

const (
	sealedVersion = 1
	// maxPartitions bounds what is believed of the number of partitions.
	maxPartitions = 1 << 24
	// maxAttempt bounds the name of an attempt.
	maxAttempt = 128
	// leastPart is the length of the shortest part: two numbers, a name of one byte, a checksum.
	leastPart = 8
)

func appendPart(buf []byte, p part) []byte {
	buf = binary.AppendUvarint(buf, uint64(p.index))
	buf = binary.AppendUvarint(buf, uint64(len(p.attempt)))
	buf = append(buf, p.attempt...)
	buf = binary.AppendUvarint(buf, uint64(p.rows))
	return binary.LittleEndian.AppendUint32(buf, p.sum)
}

func (s sealed) append(buf []byte) []byte {
	buf = append(buf, sealedVersion)
	buf = binary.AppendUvarint(buf, uint64(s.batch))
	buf = binary.AppendUvarint(buf, uint64(s.extra))
	buf = binary.AppendUvarint(buf, uint64(len(s.parts)))
	for _, p := range s.parts {
		buf = appendPart(buf, p)
	}
	return buf
}

// decodeSealed returns what Seal has written.
func decodeSealed(data []byte) (s sealed, err error) {
	if len(data) == 0 || data[0] != sealedVersion {
		return s, errNotStaged
	}
	r := reader{data: data[1:]}
	s.batch = r.number(1<<63 - 1)
	s.extra = r.number(1<<63 - 1)
	n := r.number(int64(len(r.data) / leastPart))
	for range n {
		s.parts = append(s.parts, r.part())
	}
	if r.bad || len(r.data) > 0 {
		return sealed{}, errNotStaged
	}
	return s, s.check()
}

// check refuses parts out of order.
func (s sealed) check() error {
	for i, p := range s.parts {
		if i > 0 && s.parts[i-1].index >= p.index {
			return fmt.Errorf("%w: partition %d comes after %d", errNotStaged, p.index, s.parts[i-1].index)
		}
	}
	return nil
}

// A reader takes values off the front of data.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) number(most int64) int64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > uint64(most) {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return int64(v)
}

func (r *reader) part() (p part) {
	p.index = int(r.number(maxPartitions - 1))
	n := int(r.number(maxAttempt))
	if r.bad || n > len(r.data) {
		r.bad, r.data = true, nil
		return part{}
	}
	p.attempt, r.data = string(r.data[:n]), r.data[n:]
	if checkAttempt(p.attempt) != nil {
		r.bad = true
	}
	if p.rows = r.number(1<<63 - 1); p.rows == 0 {
		r.bad = true
	}
	if len(r.data) < 4 {
		r.bad, r.data = true, nil
		return part{}
	}
	p.sum, r.data = binary.LittleEndian.Uint32(r.data), r.data[4:]
	return p
}

// checkAttempt refuses what is no name of an attempt.
func checkAttempt(name string) error {
	if name == "" || len(name) > maxAttempt {
		return fmt.Errorf("an attempt's name of %d bytes, want 1 to %d", len(name), maxAttempt)
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '-' {
			return fmt.Errorf("attempt %q is more than letters, digits, dots and hyphens", name)
		}
	}
	return nil
}

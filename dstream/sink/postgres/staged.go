package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A part is a partition's attempt that counts. Partitions without rows have none.
type part struct {
	index   int
	attempt string
	rows    int64
}

// A staging is what the driver log keeps of a batch until it is committed.
type staging struct {
	batch int64
	parts []part // partitions rise
}

const (
	stagedVersion = 1
	// maxPartitions bounds what is believed of the number of partitions.
	maxPartitions = 1 << 24
	// maxAttempt bounds the name of an attempt.
	maxAttempt = 128
	// leastPart is the length of the shortest part: two numbers, a name of one byte.
	leastPart = 4
)

var errStaged = errors.New("not what Seal returned")

func appendPart(buf []byte, p part) []byte {
	buf = binary.AppendUvarint(buf, uint64(p.index))
	buf = binary.AppendUvarint(buf, uint64(len(p.attempt)))
	buf = append(buf, p.attempt...)
	return binary.AppendUvarint(buf, uint64(p.rows))
}

func (s staging) append(buf []byte) []byte {
	buf = append(buf, stagedVersion)
	buf = binary.AppendUvarint(buf, uint64(s.batch))
	buf = binary.AppendUvarint(buf, uint64(len(s.parts)))
	for _, p := range s.parts {
		buf = appendPart(buf, p)
	}
	return buf
}

// decodeStaged returns what Seal has written.
func decodeStaged(data []byte) (s staging, err error) {
	if len(data) == 0 || data[0] != stagedVersion {
		return s, errStaged
	}
	r := reader{data: data[1:]}
	s.batch = r.number(1<<63 - 1)
	n := r.number(int64(len(r.data) / leastPart))
	for range n {
		s.parts = append(s.parts, r.part())
	}
	if r.bad || len(r.data) > 0 {
		return staging{}, errStaged
	}
	return s, s.check()
}

// check refuses parts out of order.
func (s staging) check() error {
	for i, p := range s.parts {
		if i > 0 && s.parts[i-1].index >= p.index {
			return fmt.Errorf("%w: partition %d comes after %d", errStaged, p.index, s.parts[i-1].index)
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

package peer

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/leat-io/leat/tests/bench/workload"
)

// SumText returns the sum of the values of each key: one map.
func SumText(pairs []workload.TextPair) map[string]int64 {
	sums := make(map[string]int64)
	for _, p := range pairs {
		sums[p.Key] += p.Value
	}
	return sums
}

// Deal returns rows in n buckets, each row in the one that place names, in order: a shuffle inside one
// process.
//
// Shape: place answers 0 to n-1.
func Deal[T any](parts [][]T, n int, place func(*T) int) [][]T {
	buckets := make([][]T, n)
	for _, rows := range parts {
		for i := range rows {
			b := place(&rows[i])
			buckets[b] = append(buckets[b], rows[i])
		}
	}
	return buckets
}

// MsgpackShuffle deals the pairs of each of parts over n buckets, sends every bucket through msgpack as a
// slice of structs, and returns the sum of the values in each of the n partitions and how many bytes
// went over.
//
// Shape: place answers 0 to n-1.
// Errors: what msgpack reports, wrapped.
func MsgpackShuffle(parts [][]workload.TextPair, n int, place func(key string) int) (sums []int64, bytes int, err error) {
	sent := make([][][]byte, len(parts))
	for i, rows := range parts {
		buckets := make([][]workload.TextPair, n)
		for _, p := range rows {
			b := place(p.Key)
			buckets[b] = append(buckets[b], p)
		}
		sent[i] = make([][]byte, n)
		for b, bucket := range buckets {
			if sent[i][b], err = msgpack.Marshal(bucket); err != nil {
				return nil, 0, fmt.Errorf("encode bucket %d of part %d: %w", b, i, err)
			}
			bytes += len(sent[i][b])
		}
	}
	sums = make([]int64, n)
	for b := range sums {
		for i := range sent {
			var rows []workload.TextPair
			if err := msgpack.Unmarshal(sent[i][b], &rows); err != nil {
				return nil, 0, fmt.Errorf("decode bucket %d of part %d: %w", b, i, err)
			}
			for _, p := range rows {
				sums[b] += p.Value
			}
		}
	}
	return sums, bytes, nil
}

// MsgpackBuffers is MsgpackShuffle with care taken: buckets, buffers and decoded rows are used again by
// every run after the first, as a server does that shuffles all day.
type MsgpackBuffers struct {
	buckets [][]workload.TextPair
	sent    [][]bytes.Buffer // by part and bucket
	rows    []workload.TextPair
	enc     *msgpack.Encoder
	dec     *msgpack.Decoder
	src     bytes.Reader
	sums    []int64
}

// NewMsgpackBuffers returns buffers for so many parts and n buckets.
func NewMsgpackBuffers(parts, n int) *MsgpackBuffers {
	m := &MsgpackBuffers{
		buckets: make([][]workload.TextPair, n), sent: make([][]bytes.Buffer, parts), sums: make([]int64, n),
		enc: msgpack.NewEncoder(nil), dec: msgpack.NewDecoder(nil),
	}
	for i := range m.sent {
		m.sent[i] = make([]bytes.Buffer, n)
	}
	return m
}

// Shuffle returns what MsgpackShuffle returns. The sums are good until the next call.
//
// Shape: as many parts as the buffers were made for; place answers 0 to n-1.
// Errors: what msgpack reports, wrapped.
func (m *MsgpackBuffers) Shuffle(parts [][]workload.TextPair, place func(key string) int) (sums []int64, size int, err error) {
	for i, rows := range parts {
		for b := range m.buckets {
			m.buckets[b] = m.buckets[b][:0]
		}
		for _, p := range rows {
			b := place(p.Key)
			m.buckets[b] = append(m.buckets[b], p)
		}
		for b, bucket := range m.buckets {
			buf := &m.sent[i][b]
			buf.Reset()
			m.enc.Reset(buf)
			if err := m.enc.Encode(bucket); err != nil {
				return nil, 0, fmt.Errorf("encode bucket %d of part %d: %w", b, i, err)
			}
			size += buf.Len()
		}
	}
	clear(m.sums)
	for b := range m.sums {
		for i := range m.sent {
			m.src.Reset(m.sent[i][b].Bytes())
			m.dec.Reset(&m.src)
			m.rows = m.rows[:0]
			if err := m.dec.Decode(&m.rows); err != nil {
				return nil, 0, fmt.Errorf("decode bucket %d of part %d: %w", b, i, err)
			}
			for _, p := range m.rows {
				m.sums[b] += p.Value
			}
		}
	}
	return m.sums, size, nil
}

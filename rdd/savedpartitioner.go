package rdd

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/leat-io/leat/rdd/codec"
)

// A savedPartitioner is a partitioner as it lies beside the data of a checkpoint. It says all but the key type of the
// program, which an operation by key brings along: typedPartitioner makes the partitioner of it again. Types are
// compared by the names of their encodings, which decide where keys go.
type savedPartitioner struct {
	Kind   string `msgpack:"k"` // "hash" or "range"
	N      int    `msgpack:"n"`
	Key    string `msgpack:"t"`           // name of the key's encoding
	Desc   bool   `msgpack:"d,omitempty"` // of a range partitioner
	Bounds []byte `msgpack:"b,omitempty"` // of a range partitioner, encoded
}

// NumPartitions is that of the partitioner that was saved.
func (p *savedPartitioner) NumPartitions() int { return p.N }

// String is that of the partitioner that was saved.
func (p *savedPartitioner) String() string { return fmt.Sprintf("%s:%d", p.Kind, p.N) }

// Equal reports whether other sends every key where p does.
func (p *savedPartitioner) Equal(other AnyPartitioner) bool {
	o, ok := other.(*savedPartitioner)
	if s, can := other.(savable); can && !ok {
		o, ok = s.saved()
	}
	return ok && p.Kind == o.Kind && p.N == o.N && p.Key == o.Key && p.Desc == o.Desc && string(p.Bounds) == string(o.Bounds)
}

// savable is implemented by partitioners that can be told in bytes.
type savable interface {
	saved() (*savedPartitioner, bool)
}

func (p *savedPartitioner) saved() (*savedPartitioner, bool) { return p, true }

func (p *HashPartitioner[K]) saved() (*savedPartitioner, bool) {
	keys, err := codec.For[K]()
	if err != nil || p.err != nil {
		return nil, false
	}
	return &savedPartitioner{Kind: "hash", N: p.n, Key: keys.Name()}, true
}

func (p *RangePartitioner[K]) saved() (*savedPartitioner, bool) {
	if !p.natural || naturalOrder[K]() == nil {
		return nil, false // the order is a function, which cannot be saved
	}
	keys, err := codec.For[K]()
	if err != nil {
		return nil, false
	}
	bounds, err := keys.Append(nil, p.bounds)
	if err != nil {
		return nil, false
	}
	return &savedPartitioner{Kind: "range", N: p.NumPartitions(), Key: keys.Name(), Desc: p.desc, Bounds: bounds}, true
}

// typedPartitioner returns p as a partitioner of keys of type K, made again if it was saved.
func typedPartitioner[K comparable](p AnyPartitioner) (Partitioner[K], bool) {
	s, ok := p.(*savedPartitioner)
	if !ok {
		typed, ok := p.(Partitioner[K])
		return typed, ok
	}
	keys, err := codec.For[K]()
	if err != nil || keys.Name() != s.Key {
		return nil, false
	}
	if s.Kind == "hash" {
		h := Hash[K](s.N)
		return h, h.err == nil
	}
	compare := naturalOrder[K]()
	bounds, err := keys.Decode(s.Bounds)
	if compare == nil || err != nil || len(bounds)+1 != s.N {
		return nil, false
	}
	return &RangePartitioner[K]{bounds: bounds, compare: compare, desc: s.Desc, natural: true}, true
}

// naturalOrder is the order of a predeclared key type, nil for another type.
func naturalOrder[K any]() func(a, b K) int {
	var f any
	switch any(*new(K)).(type) {
	case int:
		f = Compare[int]
	case int8:
		f = Compare[int8]
	case int16:
		f = Compare[int16]
	case int32:
		f = Compare[int32]
	case int64:
		f = Compare[int64]
	case uint:
		f = Compare[uint]
	case uint8:
		f = Compare[uint8]
	case uint16:
		f = Compare[uint16]
	case uint32:
		f = Compare[uint32]
	case uint64:
		f = Compare[uint64]
	case float32:
		f = Compare[float32]
	case float64:
		f = Compare[float64]
	case string:
		f = Compare[string]
	}
	order, _ := f.(func(a, b K) int)
	return order
}

const (
	partitionerMagic = "leatpart"
	// maxPartitioner bounds the file that is read: bounds of a million long keys.
	maxPartitioner = 256 << 20
)

func partitionerName(dir string) string { return filepath.Join(dir, "_partitioner") }

// savePartitioner writes a partitioner beside the data, where it can be told in bytes.
func savePartitioner(dir string, p AnyPartitioner) error {
	data, err := encodePartitioner(p)
	if err != nil || data == nil {
		return err
	}
	return os.WriteFile(partitionerName(dir), data, 0o644)
}

// encodePartitioner returns a partitioner in bytes, nil where it cannot be told so.
func encodePartitioner(p AnyPartitioner) ([]byte, error) {
	s, ok := p.(savable)
	if !ok {
		return nil, nil
	}
	saved, ok := s.saved()
	if !ok {
		return nil, nil
	}
	body, err := msgpack.Marshal(saved)
	if err != nil {
		return nil, err
	}
	data := append([]byte(partitionerMagic), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(data[len(partitionerMagic):], crc32.Checksum(body, castagnoli))
	return append(data, body...), nil
}

// loadPartitioner returns the partitioner beside the data, nil if there is none or it cannot be read.
func loadPartitioner(dir string) AnyPartitioner {
	f, err := os.Open(partitionerName(dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPartitioner))
	if err != nil {
		return nil
	}
	return decodePartitioner(data)
}

// decodePartitioner is the inverse of encodePartitioner, nil for anything else.
func decodePartitioner(data []byte) AnyPartitioner {
	head := len(partitionerMagic) + 4
	if len(data) < head || string(data[:len(partitionerMagic)]) != partitionerMagic ||
		crc32.Checksum(data[head:], castagnoli) != binary.LittleEndian.Uint32(data[len(partitionerMagic):]) {
		return nil
	}
	var s savedPartitioner
	if err := msgpack.Unmarshal(data[head:], &s); err != nil || s.Kind != "hash" && s.Kind != "range" || s.N < 0 {
		return nil
	}
	return &s
}

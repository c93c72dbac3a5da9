package rdd

import (
	"fmt"
	"sync"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
)

// rowBlock is records in order: a kept partition, a bucket of a shuffle, a result. Rows are never
// changed once the block has been handed over.
type rowBlock[T any] struct{ rows []T }

// add appends a copy of the chunk.
func (b *rowBlock[T]) add(chunk []T) { b.rows = append(b.rows, compact(chunk)...) }

// compact returns the chunk with its strings moved together. Strings cut out of a large buffer, as
// the lines of a file are, would otherwise keep all of that buffer alive. Other types are as
// they are.
func compact[T any](chunk []T) []T {
	lines, ok := any(chunk).([]string)
	if !ok {
		return chunk
	}
	total := 0
	for _, s := range lines {
		total += len(s)
	}
	text := make([]byte, 0, total)
	for _, s := range lines {
		text = append(text, s...)
	}
	all := string(text)
	for i, s := range lines {
		lines[i], all = all[:len(s)], all[len(s):]
	}
	return chunk
}

// rowCodec encodes rowBlocks of T. The typed codec is compiled when a block first crosses a border.
type rowCodec[T any] struct{ columns lazyCodec[T] }

func (c *rowCodec[T]) Encode(b lineage.Block) ([]byte, error) {
	columns, err := c.columns.get()
	if err != nil {
		return nil, err
	}
	return encodeRows(columns, b.(*rowBlock[T]).rows)
}

// encodeRows encodes rows into a slice that is made once: a sample of them says about how long it will be.
// Where that is wrong it grows, or has room left.
func encodeRows[T any](columns *codec.Codec[T], rows []T) ([]byte, error) {
	const sample = 32
	if len(rows) < 8*sample {
		return columns.Append(nil, rows)
	}
	step := len(rows) / sample
	some := make([]T, sample)
	for i := range some {
		some[i] = rows[i*step]
	}
	data, err := columns.Append(nil, some)
	if err != nil {
		return nil, err
	}
	size := len(data) * (len(rows)/sample + 1)
	return columns.Append(make([]byte, 0, size+size/32), rows)
}

func (c *rowCodec[T]) Decode(data []byte) (lineage.Block, error) {
	columns, err := c.columns.get()
	if err != nil {
		return nil, err
	}
	rows, err := columns.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode %T: %w", *new(T), err)
	}
	return &rowBlock[T]{rows: rows}, nil
}

func (c *rowCodec[T]) Size(b lineage.Block) int64 { return memoryOf(b.(*rowBlock[T]).rows) }

// lazyCodec compiles a codec at first use.
type lazyCodec[T any] struct {
	once  sync.Once
	codec *codec.Codec[T]
	err   error
}

func (l *lazyCodec[T]) get() (*codec.Codec[T], error) {
	l.once.Do(func() { l.codec, l.err = codec.For[T]() })
	return l.codec, l.err
}

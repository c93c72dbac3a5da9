package spool

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
)

// MaxRow is how long a row may be.
const MaxRow = 64 << 20

// A Part is the rows of a partition.
type Part struct {
	Index int   // the partition
	Count int64 // of its rows

	fs   files.FS
	name string
	seed uint32
	sum  uint32
}

// seed returns what the checksums of a part begin with.
func seed(b sink.Batch, p part) uint32 {
	return crc32.Checksum(fmt.Appendf(nil, "%q %q %d %d %s", b.App, b.Output, b.ID, p.index, p.attempt), castagnoli)
}

// Rows returns the rows in order. A row is valid until the next one.
//
// Errors: *files.DamageError where the file is not what Finish wrote; nothing follows it.
func (p Part) Rows() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := p.fs.Open(p.name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(f, 64<<10)
		sum, row := p.seed, []byte(nil)
		for n := range p.Count {
			row, sum, err = next(in, row, sum)
			if err == nil && n == p.Count-1 {
				if sum != p.sum {
					err = errors.New("not what its checksum says")
				} else if _, more := in.ReadByte(); more == nil {
					err = errors.New("has rows that were not staged")
				}
			}
			if err != nil {
				yield(nil, &files.DamageError{File: p.name, Problem: fmt.Sprintf("row %d: %v", n, err)})
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// next reads a row: its length, its bytes, the checksum of all rows so far.
func next(in *bufio.Reader, row []byte, sum uint32) ([]byte, uint32, error) {
	length, err := binary.ReadUvarint(in)
	if err != nil {
		return row, sum, err
	}
	if length > MaxRow {
		return row, sum, fmt.Errorf("%d bytes, want at most %d", length, MaxRow)
	}
	for row = row[:0]; uint64(len(row)) < length; { // by pieces: a length that lies must not take memory
		start, n := len(row), min(length-uint64(len(row)), 64<<10)
		row = append(row, make([]byte, n)...)
		if _, err := io.ReadFull(in, row[start:]); err != nil {
			return row, sum, err
		}
	}
	var check [4]byte
	if _, err := io.ReadFull(in, check[:]); err != nil {
		return row, sum, err
	}
	sum = crc32.Update(sum, castagnoli, row)
	if binary.LittleEndian.Uint32(check[:]) != sum {
		return row, sum, errors.New("not what its checksum says")
	}
	return row, sum, nil
}

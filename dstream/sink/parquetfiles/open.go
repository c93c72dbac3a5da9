package parquetfiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/leat-io/leat/dstream/sink/files"
)

// opened is a file that can be read.
type opened struct {
	*parquet.File
	src io.Closer
}

func (o *opened) close() error { return o.src.Close() }

// open opens a committed file. Files of a file system that cannot be read at any place are read whole.
//
// Errors: *files.DamageError if it is no Parquet file that this package could have written; files.ErrFormat for another format.
func open(p files.Part) (*opened, error) {
	if p.Format != formatName {
		return nil, fmt.Errorf("%w: %s has %s, not Parquet", files.ErrFormat, p.File, p.Format)
	}
	src, err := p.Open()
	if err != nil {
		return nil, err
	}
	at, ok := src.(io.ReaderAt)
	if !ok {
		data, err := io.ReadAll(io.LimitReader(src, p.Bytes))
		if err != nil {
			return nil, errors.Join(err, src.Close())
		}
		at = bytes.NewReader(data)
	}
	o := &opened{src: src}
	if err := guarded(func() error { return o.open(at, p) }); err != nil {
		_ = src.Close() // it was only read
		return nil, damage(p, err)
	}
	return o, nil
}

// damage names the file of an error.
func damage(p files.Part, err error) error {
	return &files.DamageError{File: p.File, Problem: "no whole Parquet file: " + err.Error()}
}

func (o *opened) open(at io.ReaderAt, p files.Part) (err error) {
	if err := checkFooter(at, p.Bytes); err != nil {
		return err
	}
	if o.File, err = parquet.OpenFile(at, p.Bytes, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
		return err
	}
	if n := o.NumRows(); n != p.Rows {
		return fmt.Errorf("has %d rows, want %d", n, p.Rows)
	}
	var rows int64
	for _, g := range o.Metadata().RowGroups {
		for i := range g.Columns {
			c := &g.Columns[i].MetaData
			if c.Codec != format.Zstd && c.Codec != format.Uncompressed {
				return fmt.Errorf("column %q: compressed with %v, want zstd", c.PathInSchema, c.Codec)
			}
			first := c.DataPageOffset
			if c.DictionaryPageOffset > 0 {
				first = min(first, c.DictionaryPageOffset)
			}
			if err := checkPages(at, first, c.TotalCompressedSize, p.Bytes); err != nil {
				return fmt.Errorf("column %q: %w", c.PathInSchema, err)
			}
		}
		rows += g.NumRows
	}
	if rows != p.Rows {
		return fmt.Errorf("has %d rows in its row groups, want %d", rows, p.Rows)
	}
	return nil
}

// maxFooter bounds what describes a file.
const maxFooter = 64 << 20

// magic begins and ends a file.
const magic = "PAR1"

// checkFooter returns what is wrong with the description of a file of the size.
func checkFooter(at io.ReaderAt, size int64) error {
	var end [8]byte
	if size < int64(2*len(magic)+4) {
		return fmt.Errorf("has %d bytes", size)
	}
	if err := readAt(at, end[:], size-8); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	switch {
	case string(end[4:]) != magic:
		return errors.New("does not end as one")
	case n > maxFooter || n > size-12:
		return fmt.Errorf("footer of %d bytes", n)
	}
	footer := make([]byte, n)
	if err := readAt(at, footer, size-8-n); err != nil {
		return err
	}
	s := skimmer{data: footer, items: maxItems}
	s.structure(0, nil)
	if s.err != nil {
		return fmt.Errorf("footer: %w", s.err)
	}
	return nil
}

// headerWindow is how much is read for the header of a page at first, and maxHeader at most.
const (
	headerWindow = 512
	maxHeader    = 1 << 20
)

// checkPages goes over the headers of the pages of a column chunk.
func checkPages(at io.ReaderAt, offset, length, size int64) error {
	if offset < int64(len(magic)) || length < 0 || offset > size || length > size-offset {
		return fmt.Errorf("%d bytes at %d of %d", length, offset, size)
	}
	for end := offset + length; offset < end; {
		packed, unpacked, header, err := pageHeader(at, offset, end)
		if err != nil {
			return fmt.Errorf("page at %d: %w", offset, err)
		}
		if packed < 0 || packed > end-offset-header || unpacked < 0 || unpacked > maxPage {
			return fmt.Errorf("page at %d: %d bytes that become %d", offset, packed, unpacked)
		}
		offset += header + packed
	}
	return nil
}

// pageHeader returns what the header of a page says of its length, and the length of the header.
func pageHeader(at io.ReaderAt, offset, end int64) (packed, unpacked, length int64, err error) {
	for window := int64(headerWindow); ; window *= 16 {
		buf := make([]byte, min(window, end-offset))
		if err := readAt(at, buf, offset); err != nil {
			return 0, 0, 0, err
		}
		packed, unpacked = -1, -1
		s := skimmer{data: buf, items: maxItems}
		s.structure(0, func(field, v int64) {
			switch field {
			case 2:
				unpacked = v
			case 3:
				packed = v
			}
		})
		if s.err == nil || s.err != errShort || window >= maxHeader || int64(len(buf)) == end-offset {
			return packed, unpacked, int64(s.at), s.err
		}
	}
}

// readAt fills p.
func readAt(at io.ReaderAt, p []byte, offset int64) error {
	if n, err := at.ReadAt(p, offset); n < len(p) {
		return err
	}
	return nil
}

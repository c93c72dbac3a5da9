package rdd

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow is the most text a zstd file may ask its reader to remember, a task's memory for it. It is what
// the reference tool grants when nothing is said.
const maxZstdWindow = 128 << 20

// compressed reports whether the name says that a file is compressed. Such a file cannot be read from
// its middle.
func compressed(name string) bool {
	return strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".bz2") || zstandard(name)
}

func zstandard(name string) bool {
	return strings.HasSuffix(name, ".zst") || strings.HasSuffix(name, ".zstd")
}

// stream is a file read from its beginning as text.
type stream struct {
	io.Reader
	file *os.File
	zstd *zstd.Decoder
}

// Close closes the file.
func (s *stream) Close() {
	if s.zstd != nil {
		s.zstd.Close()
	}
	_ = s.file.Close() // nothing was written
}

// openStream opens a file, decompressed as its name says: all members of it, as one text. A file of no bytes is
// the empty text whatever its name.
func openStream(path string) (*stream, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &stream{file: f, Reader: f}
	if !compressed(path) {
		return s, nil
	}
	packed := bufio.NewReaderSize(f, 64<<10)
	s.Reader = packed
	if _, err = packed.Peek(1); err == io.EOF {
		return s, nil
	}
	switch {
	case err != nil:
	case strings.HasSuffix(path, ".gz"):
		s.Reader, err = gzip.NewReader(packed)
	case strings.HasSuffix(path, ".bz2"):
		s.Reader = bzip2.NewReader(packed)
	default:
		s.zstd, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		s.Reader = s.zstd
	}
	if err != nil {
		s.Close()
		return nil, &FileError{Path: path, Line: 1, Err: err}
	}
	return s, nil
}

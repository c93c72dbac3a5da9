package rdd

import (
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A Compression is how the files of a save are compressed. Readers know it by the end of the file's
// name.
type Compression uint8

const (
	// NoCompression leaves files as they are. It is the zero value.
	NoCompression Compression = iota
	// Gzip ends names in .gz: read everywhere, slow.
	Gzip
	// Zstd ends names in .zst: smaller and several times faster.
	Zstd
)

// String returns "none", "gzip" or "zstd".
func (c Compression) String() string {
	switch c {
	case NoCompression:
		return "none"
	case Gzip:
		return "gzip"
	case Zstd:
		return "zstd"
	}
	return fmt.Sprintf("Compression(%d)", uint8(c))
}

// suffix is what the names of files end in.
func (c Compression) suffix() string {
	switch c {
	case Gzip:
		return ".gz"
	case Zstd:
		return ".zst"
	}
	return ""
}

// writer returns what compresses into w. Its Close writes the end and leaves w open. It starts no goroutine, so
// one that is given up need not be closed.
func (c Compression) writer(w io.Writer) (io.WriteCloser, error) {
	switch c {
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		// An empty partition is a frame as well: no bytes at all would not be a zstd file to other tools.
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	}
	return plainWriter{w}, nil
}

// plainWriter is a compressor that does not.
type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

package streamingcontext

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/file"
)

const (
	// maxPart is the most bytes of a file that one partition reads.
	maxPart = 64 << 20
	// recordBuffer is about how many bytes are read at once. Records are cut out of them without copying, so one
	// that is kept keeps its buffer.
	recordBuffer = 64 << 10
)

// BinaryRecords declares the stream of the records of n bytes each of the files that appear in the folders
// which dirGlob matches.
//
// Shape: files in the order of their paths, one partition for each 64 MiB of a file, about; without files an RDD
// without partitions. Never absent. Sub-folders are not looked into.
// Time and Cost: as FileStream.
// Errors: as FileStream; Start reports an n below 1. A file that ends with a part of a record fails the batch
// with a *rdd.FileError, which names the file and where that record begins.
// Source: Spark Streaming Programming Guide, "File Streams".
func (c *Context) BinaryRecords(dirGlob string, n int, opts ...FileOption) *dstream.DStream[[]byte] {
	if n < 1 {
		c.refuse("binaryRecords", fmt.Errorf("%w: records of %d bytes", rdd.ErrArgument, n))
		n = 1
	}
	return fromFiles(c, "binaryRecords", dirGlob, opts, func(c *rdd.Context, files []file.File) *rdd.RDD[[]byte] {
		return fromParts(c, recordParts(files, int64(n)), func(ctx context.Context, p recordPart) iter.Seq2[[]byte, error] {
			return p.records(ctx, n)
		})
	})
}

// recordPart is the bytes [From, To) of a file.
type recordPart struct {
	File     file.File
	From, To int64
}

// recordParts cuts files into parts that begin with a record. A file without bytes is a part, too.
func recordParts(files []file.File, n int64) []recordPart {
	step := max(maxPart/n, 1) * n
	var parts []recordPart
	for _, f := range files {
		from := int64(0)
		for ; f.Size-from > step; from += step {
			parts = append(parts, recordPart{f, from, from + step})
		}
		parts = append(parts, recordPart{f, from, f.Size})
	}
	return parts
}

// records yields the records of n bytes of a part.
func (p recordPart) records(ctx context.Context, n int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in, err := openVersion(ctx, p.File)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close() // nothing was written
		size := int64(max(recordBuffer/n, 1)) * int64(n)
		at := p.From
		for at+int64(n) <= p.To {
			buffer := make([]byte, min(size, (p.To-at)/int64(n)*int64(n)))
			if _, err := in.ReadAt(buffer, at); err != nil {
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				yield(nil, &rdd.FileError{Path: p.File.Path, Offset: at, Err: err})
				return
			}
			for ; len(buffer) > 0; buffer = buffer[n:] {
				if !yield(buffer[:n:n], nil) {
					return
				}
				at += int64(n)
			}
		}
		if err := in.unchanged(); err != nil {
			yield(nil, err)
			return
		}
		if at < p.To {
			yield(nil, &rdd.FileError{Path: p.File.Path, Offset: at,
				Err: fmt.Errorf("record of %d bytes has only %d: %w", n, p.To-at, io.ErrUnexpectedEOF)})
		}
	}
}

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

// FileStream declares the stream of the records that decode makes of the files which appear in the folders
// that dirGlob matches. decode is given the bytes of one file, as they are, in each call; calls run in
// tasks, at the same time.
//
// Files must appear whole, written elsewhere in the same file system and moved in, and must not be changed
// afterwards. A file is known by its path and by the time at which it was modified, which a move keeps: one
// that was modified before the stream was declared, or more than Options.FileRemember ago, is not
// read, also when it is moved in later. Touch it before the move. A file that is changed or replaced after it was
// selected is not selected again for Options.FileRemember; if it is younger than that then, it is read as a
// new file, whole.
//
// There is no limit on the files of a batch unless MaxFilesPerBatch or MaxBytesPerBatch sets one, or Options.Backpressure is
// on: then a batch takes the oldest files, whole, until the rate of records is reached, but one at least; what a
// record takes in a file is measured, and before that a batch with a rate takes one file. The others wait, however long, and are counted in
// dstream.InputInfo and in OverloadInfo. A graceful stop does not wait for them: a context of GetOrCreate finds them again.
//
// Shape: one partition a file, files in the order of their paths; without files an RDD without partitions.
// Never absent. Sub-folders are not looked into.
// Time: batch t has the files modified in (max(start, t - FileRemember), t] that no batch had before; start is
// the clock's time of this call, or with IncludeExisting the beginning of time.
// Cost: every batch lists the folders. Move old files away.
// Errors: Start reports a pattern that is malformed and a nil decode. A folder that is missing or cannot be
// listed is logged, its files come in a later batch. A batch fails when decode yields an error, which names
// the file and how much of it was read; and when a file is gone, or its size or time is not that of the
// selection any more, with a *FileChangedError: a batch holds one version of a file, when it is computed
// again as well.
// Source: Spark Streaming Programming Guide, "File Streams".
func FileStream[T any](ssc *Context, dirGlob string, decode func(io.Reader) iter.Seq2[T, error], opts ...FileOption) *dstream.DStream[T] {
	if decode == nil {
		ssc.refuse("fileStream", dstream.ErrNilFunction)
	}
	return fromFiles(ssc, "fileStream", dirGlob, opts, func(c *rdd.Context, files []file.File) *rdd.RDD[T] {
		return fromParts(c, files, func(ctx context.Context, f file.File) iter.Seq2[T, error] {
			return decoded(ctx, f, decode)
		})
	})
}

// fromParts returns the RDD with the records that read makes of each part, one a partition.
func fromParts[P, T any](c *rdd.Context, parts []P, read func(context.Context, P) iter.Seq2[T, error]) *rdd.RDD[T] {
	named := rdd.Parallelize(c, parts, len(parts))
	return rdd.MapPartitionsWithContext(named, func(ctx context.Context, _ int, in iter.Seq[P]) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			for part := range in {
				for record, err := range read(ctx, part) {
					if !yield(record, err) || err != nil {
						return
					}
				}
			}
		}
	})
}

// decoded yields the records of one file.
func decoded[T any](ctx context.Context, f file.File, decode func(io.Reader) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		in, err := openVersion(ctx, f)
		if err != nil {
			yield(none, err)
			return
		}
		defer in.Close() // nothing was written
		for record, err := range decode(in) {
			if err != nil {
				yield(none, fmt.Errorf("decode %s, %d bytes read: %w", f.Path, in.offset, err))
				return
			}
			if !yield(record, nil) {
				return
			}
		}
		if err := in.unchanged(); err != nil {
			yield(none, err)
		}
	}
}

package rdd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
)

// TextFile returns the lines of text files. path is a file, a folder (its plain files; names that
// begin with a dot or an underscore are skipped), or a glob of either.
//
// Shape: one record a line, without its end (\n, \r\n or \r); a last line without one counts; bytes
// that are no UTF-8 are kept, a byte order mark at the beginning of a file is not. Files in the order of their names. A plain file is cut by bytes into
// equal splits of at most 64 MiB, and into so many that there are at least minPartitions in all where
// there are so many bytes; a line belongs to the split that holds its first byte. A compressed file
// (.gz, .zst, .zstd, .bz2) is one partition, its members one text. An empty folder has no partitions.
// Cost: each task reads its split once, in buffers that the lines share; a line longer than a buffer
// takes a buffer of its length.
// Errors: a path that matches nothing fails when partitions are asked for, with fs.ErrNotExist; a
// minPartitions below 1 is ErrArgument. What is no regular file is refused. A file that cannot be read to its end
// fails the task with a *FileError: io.ErrUnexpectedEOF for one that has become shorter since it was cut, or a
// compressed one that is cut short; the decoder's error for one that is damaged.
func TextFile(c *Context, path string, minPartitions int) *RDD[string] {
	return fileSource(c, "textFile", checkMinPartitions(minPartitions), func() ([]split, error) { return textSplits(path, minPartitions) }, readText)
}

// TextFiles returns the lines of the named files, in the order given, each as TextFile reads one
// file. It is for callers that have chosen the files themselves.
func TextFiles(c *Context, paths []string) *RDD[string] {
	own := append([]string(nil), paths...)
	return fileSource(c, "textFiles", nil, func() ([]split, error) { return fileSplits(own, 1) }, readText)
}

// TextFilesChecked is TextFiles for files that must be what they were when they were chosen: check is called with a path before
// partitions are made of the file, and before and after each read of a part of it. Its error fails the job or the task, as it is.
// It is called in tasks, at the same time.
func TextFilesChecked(c *Context, paths []string, check func(path string) error) *RDD[string] {
	own := append([]string(nil), paths...)
	list := func() ([]split, error) {
		for _, p := range own {
			if err := check(p); err != nil {
				return nil, err
			}
		}
		return fileSplits(own, 1)
	}
	return fileSource(c, "textFiles", nil, list, func(t *task, at *place, s split, out sink[string]) error {
		if err := check(s.path); err != nil {
			return err
		}
		err := readText(t, at, s, out)
		if changed := check(s.path); changed != nil && (err == nil || fileError(err)) {
			return changed
		}
		return err
	})
}

// fileError reports whether err is what was found in a file, and not what became of its lines.
func fileError(err error) bool {
	var found *FileError
	return errors.As(err, &found)
}

func checkMinPartitions(n int) error {
	if n < 1 || n > MaxPartitions {
		return fmt.Errorf("%w: %d partitions", ErrArgument, n)
	}
	return nil
}

// fileSource returns an RDD that has one partition for each split, made of it by read. err, if not nil, is
// why it can never be read. The files are listed once, when partitions are first asked for.
func fileSource[T any](c *Context, op string, err error, list func() ([]split, error), read func(t *task, at *place, s split, out sink[T]) error) *RDD[T] {
	if err != nil {
		return broken[T](c, op, err)
	}
	r := newNode[T](c, op)
	splits := sync.OnceValues(list)
	r.count = func() (int, error) {
		s, err := splits()
		return len(s), err
	}
	self := &r.base
	r.compute = func(t *task, part int, out sink[T]) error {
		s, err := splits()
		if err != nil {
			return err
		}
		if err := read(t, &place{node: self, part: part}, s[part], out); err != nil {
			return err
		}
		t.env.Metrics().InputBytes += s[part].size()
		return nil
	}
	return r
}

// readText pushes the lines that begin in a split.
func readText(t *task, _ *place, s split, out sink[string]) error {
	return eachLines(t.ctx, s, false, func(in lineChunk) error { return out(in.lines) })
}

// lineChunk is some lines of a split, and where they are.
type lineChunk struct {
	lines  []string
	first  int64   // lines of the split before these
	starts []int64 // where each begins in the file; only where asked for
}

// eachLines calls out with the lines that begin in a split.
func eachLines(ctx context.Context, s split, track bool, out func(lineChunk) error) error {
	if s.to == 0 {
		return nil
	}
	lines, end, err := openSplit(s)
	if err != nil {
		return err
	}
	defer end()
	lines.track = track
	chunk := make([]string, 0, chunkSize)
	for taken := int64(0); ; taken += int64(len(chunk)) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		var err error
		chunk, err = lines.next(chunk[:0])
		n := int64(len(chunk))
		if n > 0 {
			if err := out(lineChunk{chunk, taken, lines.starts}); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &FileError{Path: s.path, Line: taken + n + 1, Offset: lines.place(), Err: err}
		}
	}
}

// openSplit opens a split. end closes it.
func openSplit(s split) (lines *lineReader, end func(), err error) {
	if s.to < 0 {
		text, err := openStream(s.path)
		if err != nil {
			return nil, nil, err
		}
		return &lineReader{src: text, limit: -1}, text.Close, nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, nil, err
	}
	return splitReader(f, s.from, s.to), func() { _ = f.Close() }, nil
}

// splitReader returns the reader of the lines that begin in the bytes [from, to) of f.
func splitReader(f io.ReaderAt, from, to int64) *lineReader {
	if from == 0 {
		return &lineReader{src: io.NewSectionReader(f, 0, math.MaxInt64), limit: to}
	}
	// The byte before tells whether the split begins with a line of its own.
	return &lineReader{src: io.NewSectionReader(f, from-1, math.MaxInt64-from), limit: to - from + 1, skipFirst: true, base: from - 1}
}

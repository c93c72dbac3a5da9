package rdd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

// maxSplit is the most bytes of a plain file that one partition reads: small enough that a large
// file gives every core several tasks, large enough that a task is worth its start.
const maxSplit = 64 << 20

// TextFile returns the lines of text files. path is a file, a folder (its plain files; names that
// begin with a dot or an underscore are skipped), or a glob of either.
//
// Shape: one record a line, without its end (\n, \r\n or \r); a last line without one counts; bytes
// that are no UTF-8 are kept. Files in the order of their names. A plain file is cut by bytes into
// equal splits of at most 64 MiB, and into so many that there are at least minPartitions in all where
// there are so many bytes; a line belongs to the split that holds its first byte. A .gz file is one
// partition. An empty folder has no partitions.
// Cost: each task reads its split once, in buffers that the lines share; a line longer than a buffer
// takes a buffer of its length.
// Errors: a path that matches nothing fails when partitions are asked for, with fs.ErrNotExist; a
// minPartitions below 1 is ErrArgument. What is no regular file is refused; one that has become shorter since it
// was cut fails the task with io.ErrUnexpectedEOF.
func TextFile(c *Context, path string, minPartitions int) *RDD[string] {
	if minPartitions < 1 || minPartitions > MaxPartitions {
		return broken[string](c, "textFile", fmt.Errorf("%w: %d partitions", ErrArgument, minPartitions))
	}
	r := newNode[string](c, "textFile")
	splits := sync.OnceValues(func() ([]split, error) { return textSplits(path, minPartitions) })
	r.count = func() (int, error) {
		s, err := splits()
		return len(s), err
	}
	r.compute = func(t *task, part int, out sink[string]) error {
		s, err := splits()
		if err != nil {
			return err
		}
		return readSplit(t.ctx, s[part], out)
	}
	return r
}

// TextFiles returns the lines of the named files, in the order given, each as TextFile reads one
// file. It is for callers that have chosen the files themselves.
func TextFiles(c *Context, paths []string) *RDD[string] {
	r := newNode[string](c, "textFiles")
	own := append([]string(nil), paths...)
	splits := sync.OnceValues(func() ([]split, error) { return fileSplits(own, 1) })
	r.count = func() (int, error) {
		s, err := splits()
		return len(s), err
	}
	r.compute = func(t *task, part int, out sink[string]) error {
		s, err := splits()
		if err != nil {
			return err
		}
		return readSplit(t.ctx, s[part], out)
	}
	return r
}

var errNotAFile = errors.New("not a regular file")

// split is the bytes [from, to) of a file; to is -1 for a file that is read as one stream.
type split struct {
	path     string
	from, to int64
}

func textSplits(path string, minPartitions int) ([]split, error) {
	files, err := textPaths(path)
	if err != nil {
		return nil, err
	}
	return fileSplits(files, minPartitions)
}

// textPaths lists the files that a path, folder or glob names, sorted.
func textPaths(path string) ([]string, error) {
	matches := []string{path}
	if _, err := os.Stat(path); err != nil {
		if matches, err = filepath.Glob(path); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("read %s: %w", path, os.ErrNotExist)
		}
	}
	var files []string
	for _, m := range matches {
		info, err := os.Stat(m)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, m)
			continue
		}
		entries, err := os.ReadDir(m)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := filepath.Join(m, e.Name())
			if hidden(e.Name()) {
				continue
			}
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() { // links count as what they lead to
				files = append(files, name)
			}
		}
	}
	sort.Strings(files)
	return files, nil
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// fileSplits cuts files into splits: plain ones by bytes, in shares of minPartitions by size.
func fileSplits(files []string, minPartitions int) ([]split, error) {
	sizes := make([]int64, len(files))
	var total int64 // of the plain files
	for i, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() { // a pipe would hold up whoever opens it, and has no size to cut
			return nil, fmt.Errorf("read %s: %w: %v", f, errNotAFile, info.Mode().Type())
		}
		if sizes[i] = info.Size(); !gzipped(f) {
			total += sizes[i]
		}
	}
	var splits []split
	for i, f := range files {
		switch size := sizes[i]; {
		case gzipped(f):
			splits = append(splits, split{path: f, to: -1})
		case size == 0:
			splits = append(splits, split{path: f})
		default:
			share := int64(math.Ceil(float64(minPartitions) * (float64(size) / float64(total))))
			n := min(max(share, (size+maxSplit-1)/maxSplit), size)
			for k := range n {
				from, to := bigSlice(uint64(size), uint64(n), uint64(k))
				splits = append(splits, split{path: f, from: int64(from), to: int64(to)})
			}
		}
	}
	return splits, nil
}

func gzipped(name string) bool { return strings.HasSuffix(name, ".gz") }

// readSplit pushes the lines that begin in a split.
func readSplit(ctx context.Context, s split, out sink[string]) error {
	if s.to == 0 {
		return nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := &lineReader{limit: -1}
	if s.to < 0 {
		if lines.src, err = newGunzip(f); err != nil {
			return fmt.Errorf("read %s: %w", s.path, err)
		}
	} else {
		lines = splitReader(f, s.from, s.to)
	}
	return pushLines(ctx, s.path, lines, out)
}

// splitReader returns the reader of the lines that begin in the bytes [from, to) of f.
func splitReader(f io.ReaderAt, from, to int64) *lineReader {
	if from == 0 {
		return &lineReader{src: io.NewSectionReader(f, 0, math.MaxInt64), limit: to}
	}
	// The byte before tells whether the split begins with a line of its own.
	return &lineReader{src: io.NewSectionReader(f, from-1, math.MaxInt64-from), limit: to - from + 1, skipFirst: true}
}

func pushLines(ctx context.Context, name string, lines *lineReader, out sink[string]) error {
	chunk := make([]string, 0, chunkSize)
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		var err error
		chunk, err = lines.next(chunk[:0])
		if len(chunk) > 0 {
			if err := out(chunk); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
}

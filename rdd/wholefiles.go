package rdd

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// WholeTextFiles returns the text files that a path, folder or glob names as pairs of their path and their text,
// decompressed as their names say.
//
// Shape: one record a file, in the order of their names; neighbouring files share a partition, so that there are about
// minPartitions of about the same size. An empty folder has no partitions. TextFile gives lines, and cuts large files.
// Cost: a file is read into memory whole.
// Errors: as TextFile.
func WholeTextFiles(c *Context, path string, minPartitions int) *RDD[Pair[string, string]] {
	return wholeFiles(c, "wholeTextFiles", path, minPartitions, func(name string) (string, error) {
		f, err := openStream(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		var text strings.Builder
		if _, err = io.Copy(&text, f); err != nil {
			return "", &FileError{Path: name, Line: 1 + int64(strings.Count(text.String(), "\n")), Err: err}
		}
		return text.String(), nil
	})
}

// BinaryFiles returns the files that a path, folder or glob names as pairs of their path and their bytes, as they are.
//
// Shape, Cost and Errors: as WholeTextFiles.
func BinaryFiles(c *Context, path string, minPartitions int) *RDD[Pair[string, []byte]] {
	return wholeFiles(c, "binaryFiles", path, minPartitions, os.ReadFile)
}

func wholeFiles[T any](c *Context, op, path string, minPartitions int, read func(name string) (T, error)) *RDD[Pair[string, T]] {
	if minPartitions < 1 || minPartitions > MaxPartitions {
		return broken[Pair[string, T]](c, op, fmt.Errorf("%w: %d partitions", ErrArgument, minPartitions))
	}
	r := newNode[Pair[string, T]](c, op)
	packs := sync.OnceValues(func() ([][]string, error) { return packFiles(path, minPartitions) })
	r.count = func() (int, error) {
		p, err := packs()
		return len(p), err
	}
	r.compute = func(t *task, part int, out sink[Pair[string, T]]) error {
		p, err := packs()
		if err != nil {
			return err
		}
		for _, name := range p[part] {
			if err := context.Cause(t.ctx); err != nil {
				return err
			}
			content, err := read(name)
			if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			if err := out([]Pair[string, T]{{Key: name, Value: content}}); err != nil {
				return err
			}
		}
		return nil
	}
	return r
}

// packFiles puts neighbouring files together up to a share of all bytes, one file at least.
func packFiles(path string, minPartitions int) ([][]string, error) {
	files, err := textPaths(path)
	if err != nil {
		return nil, err
	}
	sizes := make([]int64, len(files))
	var total int64
	for i, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("read %s: %w: %v", f, errNotAFile, info.Mode().Type())
		}
		sizes[i] = info.Size()
		total += sizes[i]
	}
	share := (total + int64(minPartitions) - 1) / int64(minPartitions)
	var packs [][]string
	var filled int64
	for i, f := range files {
		if i == 0 || filled+sizes[i] > share {
			packs = append(packs, nil)
			filled = 0
		}
		last := len(packs) - 1
		packs[last] = append(packs[last], f)
		filled += sizes[i]
	}
	return packs, nil
}

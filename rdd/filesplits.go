package rdd

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// maxSplit is the most bytes of a plain file that one partition reads: small enough that a large
// file gives every core several tasks, large enough that a task is worth its start.
const maxSplit = 64 << 20

var errNotAFile = errors.New("not a regular file")

// split is the bytes [from, to) of a file; to is -1 for a file that is read as one stream.
type split struct {
	path     string
	from, to int64
}

// size is how many bytes of its file a split has, 0 where that cannot be told.
func (s split) size() int64 {
	if s.to >= 0 {
		return s.to - s.from
	}
	n, err := fileSize(s.path)
	if err != nil {
		return 0
	}
	return n
}

func textSplits(path string, minPartitions int) ([]split, error) {
	files, err := textPaths(path)
	if err != nil {
		return nil, err
	}
	return fileSplits(files, minPartitions)
}

// wholeSplits makes each file that a path names one split.
func wholeSplits(path string) ([]split, error) {
	files, err := textPaths(path)
	if err != nil {
		return nil, err
	}
	splits := make([]split, len(files))
	for i, f := range files {
		if _, err := fileSize(f); err != nil {
			return nil, err
		}
		splits[i] = split{path: f, to: -1}
	}
	return splits, nil
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
		size, err := fileSize(f)
		if err != nil {
			return nil, err
		}
		if sizes[i] = size; !compressed(f) {
			total += size
		}
	}
	var splits []split
	for i, f := range files {
		switch size := sizes[i]; {
		case compressed(f):
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

// fileSize returns the size of a file that can be opened without waiting for somebody.
func fileSize(name string) (int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() { // a pipe would hold up whoever opens it, and has no size to cut
		return 0, fmt.Errorf("read %s: %w: %v", name, errNotAFile, info.Mode().Type())
	}
	return info.Size(), nil
}

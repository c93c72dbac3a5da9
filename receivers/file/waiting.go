package file

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Limit bounds the files of a batch. The zero value does not.
type Limit struct {
	Files int   // how many there may be, 0 for no limit
	Bytes int64 // how large they may be together, 0 for no limit; one file may be larger alone
}

// allows reports whether a batch that has so many files of so many bytes may take another one.
func (l Limit) allows(files int, bytes, size int64) bool {
	return files == 0 || (l.Files == 0 || files < l.Files) && (l.Bytes == 0 || size <= l.Bytes-bytes)
}

// and returns the limit that keeps to both.
func (l Limit) and(m Limit) Limit {
	return Limit{Files: lesser(l.Files, m.Files), Bytes: lesser(l.Bytes, m.Bytes)}
}

// lesser returns the lesser of two bounds of which 0 is none.
func lesser[N int | int64](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// waiting is files that have been seen and that no batch has.
type waiting struct {
	files []File // the oldest first, then by path
	paths map[string]bool
}

// add adds files that are not among them, but perhaps twice among each other.
func (w *waiting) add(found []File) {
	n := len(w.files)
	for _, f := range found {
		if !w.paths[f.Path] {
			w.paths[f.Path] = true
			w.files = append(w.files, f)
		}
	}
	if len(w.files) > n {
		slices.SortFunc(w.files, byAge)
	}
}

func byAge(a, b File) int {
	return cmp.Or(cmp.Compare(a.ModTime, b.ModTime), cmp.Compare(a.Path, b.Path))
}

// oldest returns the modification time of the oldest file, 0 if there is none.
func (w *waiting) oldest() int64 {
	if len(w.files) == 0 {
		return 0
	}
	return w.files[0].ModTime
}

// clear forgets them all.
func (w *waiting) clear() {
	w.files = nil
	clear(w.paths)
}

// take takes the files of batch t out of those that wait, sorted by path. again says that some may have changed since they were
// described.
func (s *Selector) take(t int64, limit Limit, again bool) (files []File, warnings []error) {
	w := &s.waiting
	left := w.files[:0]
	var bytes int64
	full := false
	for _, f := range w.files {
		if full || f.ModTime > t {
			left = append(left, f)
			continue
		}
		if again {
			info, err := s.fs.Stat(f.Path)
			switch {
			case errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
				delete(w.paths, f.Path) // gone before a batch had it
				continue
			case err != nil:
				warnings = append(warnings, fmt.Errorf("describe file %s: %w", f.Path, err))
				left = append(left, f)
				continue
			}
			f.Size = info.Size()
			// Its place among those that wait stays: what was remembered for its sake is remembered until it is taken.
			if mod := info.ModTime().UnixMilli(); mod <= t {
				f.ModTime = mod
			} else {
				left = append(left, f)
				continue
			}
		}
		if full = !limit.allows(len(files), bytes, f.Size); full {
			left = append(left, f)
			continue
		}
		delete(w.paths, f.Path)
		files, bytes = append(files, f), bytes+f.Size
	}
	clear(w.files[len(left):])
	w.files = left
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return files, warnings
}

// Waiting returns how many files wait for a later batch, and how large they are together, as they were when they were seen.
func (s *Selector) Waiting() (files int, bytes int64) {
	for _, f := range s.waiting.files {
		bytes += f.Size
	}
	return len(s.waiting.files), bytes
}

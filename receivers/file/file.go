package file

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// File is a file that belongs to a batch, as it was when it was selected.
type File struct {
	Path    string
	ModTime int64 // milliseconds since the epoch
	Size    int64 // bytes
}

// Selector tells which files belong to a batch. Make it with [NewSelector]. It belongs to one goroutine.
type Selector struct {
	pattern   string
	fs        FS
	filter    func(path string) bool
	threshold int64
	remember  int64 // milliseconds
	interval  int64 // milliseconds
	limit     Limit // of every batch

	batches map[int64][]File // by batch time, the batches not forgotten
	taken   map[string]int64 // the paths in those batches, with the newest batch that has each
	waiting waiting          // what a limit has left for later batches
	last    int64            // the newest batch there was, Start before the first
	back    *reach           // nil unless the program has just come back
}

// NewSelector returns a selector of files in the directories that pattern, as in [filepath.Match], matches.
//
// Errors: a joined [*receivers.OptionError] for each option that cannot be used; [filepath.ErrBadPattern].
func NewSelector(pattern string, opts Options) (*Selector, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("directory pattern %q: %w", pattern, err)
	}
	s := &Selector{
		pattern:   pattern,
		fs:        opts.FS,
		filter:    opts.Filter,
		threshold: opts.threshold(),
		remember:  opts.remember().Milliseconds(),
		interval:  opts.Interval.Milliseconds(),
		limit:     opts.Limit,
		batches:   map[int64][]File{},
		taken:     map[string]int64{},
		waiting:   waiting{paths: map[string]bool{}},
		last:      opts.Start,
	}
	if s.fs == nil {
		s.fs = systemFS{}
	}
	if s.filter == nil {
		s.filter = visible
	}
	return s, nil
}

// Remember returns the remember duration in effect, in milliseconds. The stream has to keep its batches as long.
func (s *Selector) Remember() int64 { return s.remember }

// Select returns the files of the batch at time t, in milliseconds since the epoch, sorted by path, and remembers
// them. For a batch it remembers already it returns the same again and looks at nothing. The caller must not change
// the slice.
//
// Cost: each matching directory is listed, and each accepted name in it that is not remembered is described, for every
// batch. Move old files away.
//
// Errors: each warning names a directory or file that was left out; the files are complete otherwise. A directory that
// is missing wraps [fs.ErrNotExist].
func (s *Selector) Select(t int64) (files []File, warnings []error) {
	return s.SelectAtMost(t, Limit{})
}

// SelectAtMost is Select for a batch that takes no more than the limit says, though one file at least. The oldest
// files are taken first, by time and then by path. The others wait for later batches, however long that is.
//
// Cost: as Select; of files that wait those are described again that are taken.
// Errors: as Select.
//
// The limit of the options holds as well.
func (s *Selector) SelectAtMost(t int64, limit Limit) (files []File, warnings []error) {
	if files, ok := s.batches[t]; ok {
		return files, nil
	}
	dirs, err := s.fs.Glob(s.pattern)
	if err != nil {
		warnings = append(warnings, fmt.Errorf("find directories %q: %w", s.pattern, err))
	} else if len(dirs) == 0 {
		warnings = append(warnings, fmt.Errorf("find directories %q: %w", s.pattern, fs.ErrNotExist))
	}
	after := max(s.threshold, s.oldest(t))
	waited := len(s.waiting.files)
	for _, dir := range dirs {
		found, warned := s.list(dir, after, t)
		s.waiting.add(found)
		warnings = append(warnings, warned...)
	}
	complete := len(warnings) == 0
	files, warned := s.take(t, limit.and(s.limit), waited > 0)
	s.record(t, files)
	s.arrive(t, complete)
	return files, append(warnings, warned...)
}

// list returns the files in dir modified in (after, until].
func (s *Selector) list(dir string, after, until int64) (files []File, warnings []error) {
	info, err := s.fs.Stat(dir)
	if err == nil && !info.IsDir() {
		return nil, nil // the pattern also matches files; they are not meant
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = s.fs.ReadDir(dir)
	}
	if err != nil {
		return nil, []error{fmt.Errorf("list directory %s: %w", dir, err)}
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if _, ok := s.taken[path]; ok || s.waiting.paths[path] || entry.IsDir() || !s.filter(path) {
			continue
		}
		info, err := s.fs.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since the directory was listed
		}
		if err != nil {
			warnings = append(warnings, fmt.Errorf("describe file %s: %w", path, err))
			continue
		}
		if mod := info.ModTime().UnixMilli(); info.Mode().IsRegular() && mod > after && mod <= until {
			files = append(files, File{Path: path, ModTime: mod, Size: info.Size()})
		}
	}
	return files, warnings
}

func (s *Selector) record(t int64, files []File) {
	s.batches[t] = files
	for _, f := range files {
		s.taken[f.Path] = max(t, s.taken[f.Path])
	}
	s.last = max(s.last, t)
}

// Hold says that batch t has no files: what it would have had is left to a later one. Nothing is looked at.
func (s *Selector) Hold(t int64) {
	if _, ok := s.batches[t]; !ok {
		s.Away()
		s.record(t, nil)
	}
}

// Forget drops the batches before t minus the remember duration, once the batch at t is complete. Their files are too
// old to be selected again, unless they are changed. While files wait that are older, batches since then stay.
func (s *Selector) Forget(t int64) {
	before := s.oldest(t)
	if oldest := s.waiting.oldest(); oldest != 0 {
		before = min(before, oldest-1)
	}
	for batch, files := range s.batches {
		if batch >= before {
			continue
		}
		delete(s.batches, batch)
		for _, f := range files {
			if s.taken[f.Path] == batch {
				delete(s.taken, f.Path)
			}
		}
	}
}

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// ReadOptions say what is read.
type ReadOptions struct {
	// App and Output name an application and an output; empty means all of them.
	App, Output string
	// From is the first batch.
	From int64
	// FS is where files are; nil is the operating system's.
	FS FS
	// Lines, if set, makes lines of the rows of files that are not lines, which Read refuses without. It calls yield with each, which
	// is used before yield returns, and ends early when that returns false.
	Lines func(p Part, yield func(line []byte) bool) error
}

// Validate returns an error naming the field that has no meaning.
func (o ReadOptions) Validate() error {
	if o.From < 0 {
		return fmt.Errorf("files.ReadOptions.From is %d", o.From)
	}
	return nil
}

// String returns what is read.
func (o ReadOptions) String() string {
	return fmt.Sprintf("application %q, output %q, from batch %d", o.App, o.Output, o.From)
}

// A found is the folder of an output below the folder that was asked for.
type found struct {
	at     paths
	levels int // folders between: 2 below the root of a sink, 1 below an application, 0 if it is the folder itself
}

// find returns the folders of outputs in and below dir, by name.
func find(fsys FS, dir string) ([]found, error) {
	if _, err := fsys.ReadDir(dir); err != nil {
		return nil, err
	}
	var all []found
	var walk func(dir string, level int) error
	walk = func(dir string, level int) error {
		entries, err := fsys.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			switch e.Name() {
			case dataDir, commitsDir, epochsDir, tmpDir: // no application and no output has such a folder
				if e.IsDir() {
					all = append(all, found{at: paths{root: dir}, levels: level})
					return nil
				}
			}
		}
		for _, e := range entries {
			if e.IsDir() && level < 2 {
				if err := walk(filepath.Join(dir, e.Name()), level+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return all, walk(dir, 0)
}

// belongs refuses a manifest that is in the folder of another output.
func (f found) belongs(m *manifest) error {
	output, app := filepath.Base(f.at.root), filepath.Base(filepath.Dir(f.at.root))
	if f.levels > 0 && escape(m.Output) != output || f.levels > 1 && escape(m.App) != app {
		return &DamageError{File: f.at.manifest(m.Batch), Problem: fmt.Sprintf("is the manifest of batch %d of %q of %q", m.Batch, m.Output, m.App)}
	}
	return nil
}

// numbered returns the ids among the names of a folder, in order, and the other names.
func numbered(fsys FS, dir string) (ids []int64, others []string, err error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries {
		if id, ok := parseNumber(e.Name()); ok {
			ids = append(ids, id)
		} else {
			others = append(others, e.Name())
		}
	}
	return ids, others, err
}

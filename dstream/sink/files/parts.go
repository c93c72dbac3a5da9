package files

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"
)

// A Part is a committed file: the rows of one partition of a batch.
type Part struct {
	App, Output string
	Batch       int64
	Partition   int
	Format      string // the name of the Format that wrote it
	File        string // its path
	Rows, Bytes int64

	fs FS
}

// Open opens the file. Nothing is checked once more: Parts has done so before.
func (p Part) Open() (io.ReadCloser, error) { return p.fs.Open(p.File) }

// String returns the path.
func (p Part) String() string { return p.File }

// Parts returns the files of the committed batches below dir, for readers of formats that are no lines. All files of a batch are
// compared with their manifest before the first is returned.
//
// Order: as Read's.
// Cost: each file is read once, for its checksum. Nothing is kept.
// Errors: the first one is the last thing returned: *DamageError where a file is not what its manifest says.
func Parts(dir string, o ReadOptions) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		fsys := o.fs()
		err := committed(fsys, dir, o, func(at paths, m *manifest) (goOn bool, err error) {
			for _, f := range m.parts {
				if err := check(fsys, at.part(m.Batch, f), f, nil); err != nil {
					return false, err
				}
			}
			for _, f := range m.parts {
				if !yield(partOf(fsys, at, m, f), nil) {
					return false, nil
				}
			}
			return true, nil
		})
		if err != nil {
			yield(Part{}, err)
		}
	}
}

func partOf(fsys FS, at paths, m *manifest, f part) Part {
	return Part{App: m.App, Output: m.Output, Batch: m.Batch, Partition: f.Partition, Format: m.Format,
		File: at.part(m.Batch, f), Rows: f.Rows, Bytes: f.Bytes, fs: fsys}
}

// committed calls each with the committed batches that o asks for, in order, until it returns false or an error.
func committed(fsys FS, dir string, o ReadOptions, each func(at paths, m *manifest) (goOn bool, err error)) error {
	if err := o.Validate(); err != nil {
		return err
	}
	outputs, err := find(fsys, filepath.Clean(dir))
	if err != nil {
		return err
	}
	for _, of := range outputs {
		if of.passed(o) {
			continue
		}
		goOn := true
		h := history{fs: fsys, of: of}
		h.each(o.From, func(fault error) bool { err = fault; return false }, func(m *manifest) bool {
			if o.App != "" && m.App != o.App || o.Output != "" && m.Output != o.Output {
				return false // the folder itself was given, under another name
			}
			goOn, err = each(h.of.at, m)
			return goOn && err == nil
		})
		if err != nil || !goOn {
			return err
		}
	}
	return nil
}

// fs returns where files are.
func (o ReadOptions) fs() FS {
	if o.FS == nil {
		return OS{}
	}
	return o.FS
}

// rowsOf yields the rows of a batch that are not lines, as o.Lines makes lines of them.
func (o ReadOptions) rowsOf(fsys FS, at paths, m *manifest, yield func(Row, error) bool) (goOn bool, err error) {
	if o.Lines == nil {
		return false, fmt.Errorf("%w: %s files of %s are not lines", ErrFormat, m.Format, at.root)
	}
	for _, f := range m.parts {
		if err := check(fsys, at.part(m.Batch, f), f, nil); err != nil {
			return false, err
		}
	}
	for _, f := range m.parts {
		row := Row{App: m.App, Output: m.Output, Batch: m.Batch, Time: m.Time, Partition: f.Partition}
		goOn := true
		err := o.Lines(partOf(fsys, at, m, f), func(line []byte) bool {
			row.Line = line
			goOn = yield(row, nil)
			return goOn
		})
		if err != nil || !goOn {
			return false, err
		}
	}
	return true, nil
}

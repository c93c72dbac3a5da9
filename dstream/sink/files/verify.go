package files

import (
	"errors"
	"fmt"
	"path/filepath"
)

// A Report is what Verify found.
type Report struct {
	Outputs    int   // folders of outputs
	Batches    int64 // committed ones
	Files      int64 // that manifests name
	Rows       int64
	Bytes      int64
	Problems   []error  // *DamageError, or an error of the file system: each names its file
	Garbage    []string // files that no manifest names: of tries that failed or are not decided. Where a manifest is damaged or missing, none of its batch
	Temporary  []string // manifests that were being written
	Unexpected []string // files and folders that no sink makes
}

// Err returns the problems as one error, nil if there are none. Garbage is none.
func (r Report) Err() error { return errors.Join(r.Problems...) }

// String returns the counts.
func (r Report) String() string {
	return fmt.Sprintf("%d outputs, %d batches, %d files, %d rows, %d bytes; %d problems, %d garbage, %d temporary, %d unexpected",
		r.Outputs, r.Batches, r.Files, r.Rows, r.Bytes, len(r.Problems), len(r.Garbage), len(r.Temporary), len(r.Unexpected))
}

// Verify compares all files below dir with their manifests, and these with each other. The folder is as for Read. Beside a
// driver that runs, what it is staging shows as garbage.
//
// Order: problems and names as they are met: outputs by name, then batches and partitions.
// Errors: only that dir cannot be listed; all else is in the report.
func Verify(dir string) (Report, error) { return VerifyWith(dir, ReadOptions{}) }

// VerifyWith is Verify of some of the outputs, or on another file system. It looks at files of batches before o.From, too.
//
// Errors: as Verify; options that have no meaning.
func VerifyWith(dir string, o ReadOptions) (Report, error) { return VerifyParts(dir, o, nil) }

// VerifyParts is VerifyWith that calls look, if it is not nil, with each file that is what its manifest says, for what a
// format has to say of it. What look returns is among the problems.
//
// Errors: as VerifyWith.
func VerifyParts(dir string, o ReadOptions, look func(Part) error) (Report, error) {
	var r Report
	if err := o.Validate(); err != nil {
		return r, err
	}
	fsys := o.fs()
	outputs, err := find(fsys, filepath.Clean(dir))
	if err != nil {
		return r, err
	}
	for _, of := range outputs {
		if !of.passed(o) {
			r.Outputs++
			r.output(fsys, of, look)
		}
	}
	return r, nil
}

// output looks at one output.
func (r *Report) output(fsys FS, of found, look func(Part) error) {
	named := make(map[int64]map[string]bool)
	whole := true // no manifest is missing or damaged, so that what none names is known
	h := history{fs: fsys, of: of}
	h.each(0, func(err error) bool {
		r.Problems, whole = append(r.Problems, err), false
		return true
	}, func(m *manifest) bool {
		r.Batches++
		names := make(map[string]bool, len(m.parts))
		for _, f := range m.parts {
			names[f.Name] = true
			r.Files, r.Rows, r.Bytes = r.Files+1, r.Rows+f.Rows, r.Bytes+f.Bytes
			err := check(fsys, of.at.part(m.Batch, f), f, nil)
			if err == nil && look != nil {
				err = look(partOf(fsys, of.at, m, f))
			}
			r.note(err)
		}
		named[m.Batch] = names
		return true
	})
	_, others, err := numbered(fsys, of.at.dir(commitsDir))
	r.note(err)
	r.unexpected(of.at.dir(commitsDir), others)
	batches, others, err := numbered(fsys, of.at.dir(dataDir))
	r.note(err)
	r.unexpected(of.at.dir(dataDir), others)
	for _, id := range batches {
		entries, err := fsys.ReadDir(of.at.batch(id))
		r.note(err)
		for _, e := range entries {
			if name := e.Name(); !named[id][name] && (whole || named[id] != nil) {
				r.Garbage = append(r.Garbage, filepath.Join(of.at.batch(id), name))
			}
		}
	}
	_, others, err = numbered(fsys, of.at.dir(tmpDir))
	r.note(err)
	for _, name := range others {
		r.Temporary = append(r.Temporary, filepath.Join(of.at.dir(tmpDir), name))
	}
	entries, err := fsys.ReadDir(of.at.root)
	r.note(err)
	for _, e := range entries {
		switch e.Name() {
		case dataDir, commitsDir, epochsDir, tmpDir:
		default:
			r.unexpected(of.at.root, []string{e.Name()})
		}
	}
}

func (r *Report) note(err error) {
	if err != nil {
		r.Problems = append(r.Problems, err)
	}
}

func (r *Report) unexpected(dir string, names []string) {
	for _, name := range names {
		r.Unexpected = append(r.Unexpected, filepath.Join(dir, name))
	}
}

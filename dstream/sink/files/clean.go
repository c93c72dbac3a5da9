package files

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// clean removes what no manifest names from the folders of batches that have not been cleaned, up to last, and temporary
// manifests of batches up to it.
func (o *output) clean(last int64) error {
	if !o.listed {
		if err := o.list(); err != nil {
			return err
		}
	}
	if err := o.cleanTemporary(last); err != nil {
		return err
	}
	if last-o.cleaned > fewIDs {
		return o.cleanListed(last)
	}
	for id := o.cleaned + 1; id <= last; id++ {
		if err := o.cleanBatch(id); err != nil {
			return err
		}
		o.cleaned = id
	}
	return nil
}

// cleanListed cleans many batches.
func (o *output) cleanListed(last int64) error {
	entries, err := o.fs.ReadDir(o.at.dir(dataDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, ok := parseNumber(e.Name())
		if !ok || id <= o.cleaned || id > last {
			continue
		}
		if err := o.cleanBatch(id); err != nil {
			return err
		}
	}
	if err := o.fs.SyncDir(o.at.dir(dataDir)); err != nil { // of folders that are removed already
		return err
	}
	o.cleaned = last
	return nil
}

// cleanBatch cleans the folder of one batch. Removing is made durable, since later manifests say that it is clean. What another
// process removed before it was killed may come back with a power cut, so there it is enough that it may have begun.
func (o *output) cleanBatch(id int64) error {
	dir := o.at.batch(id)
	removed, left := id <= o.others, 0
	entries, err := o.fs.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if removed {
			return o.fs.SyncDir(o.at.dir(dataDir))
		}
		return nil
	}
	if err != nil {
		return err
	}
	m, err := readManifest(o.fs, o.at, id)
	if err != nil {
		return err // a damaged manifest may name any of them
	}
	named := make(map[string]bool)
	if m != nil {
		for _, f := range m.parts {
			named[f.Name] = true
		}
	}
	for _, e := range entries {
		if named[e.Name()] || e.IsDir() {
			left++
			continue
		}
		if err := o.remove(o.at.part(id, part{Name: e.Name()})); err != nil {
			return err
		}
		removed = true
	}
	if left == 0 {
		if err := o.remove(dir); err != nil {
			return err
		}
		return o.fs.SyncDir(o.at.dir(dataDir))
	}
	if removed {
		return o.fs.SyncDir(dir)
	}
	return nil
}

// cleanTemporary removes manifests that got no name.
func (o *output) cleanTemporary(last int64) error {
	entries, err := o.fs.ReadDir(o.at.dir(tmpDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if id, ok := parseTemporary(e.Name()); ok && id <= last {
			if err := o.remove(filepath.Join(o.at.dir(tmpDir), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes a file that may be gone.
func (o *output) remove(name string) error {
	if err := o.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

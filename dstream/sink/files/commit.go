package files

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/leat-io/leat/dstream/sink"
)

// commit creates the manifest of b, or finds it.
func (o *output) commit(b sink.Batch, st staging, is digest) error {
	if found, err := o.committed(b, is); found || err != nil {
		return err
	}
	if err := o.lookUpTo(b.ID); err != nil {
		return err
	}
	if err := o.fence(b); err != nil {
		return err
	}
	if o.newest.last() > b.ID {
		return fmt.Errorf("%w: %d", ErrOrder, o.newest.last())
	}
	if err := o.leaveEpoch(b); err != nil {
		return err
	}
	for _, f := range st.Files {
		if err := o.there(b.ID, f); err != nil {
			return err
		}
	}
	m := &manifest{App: b.App, Output: b.Output, Batch: b.ID, Time: b.Time, Epoch: b.Epoch, Staged: is, Format: st.Format, Lines: st.Lines,
		Partitions: st.Partitions, Previous: o.newest.last(), PreviousIs: o.newest.sum, Cleaned: o.cleaned, parts: st.Files}
	data, err := m.encode()
	if err != nil {
		return err
	}
	switch err := o.create(b, data); {
	case errors.Is(err, fs.ErrExist): // another driver was faster
		found, err := o.committed(b, is)
		if err == nil && !found {
			err = fmt.Errorf("%s: %w, and is not to be read", o.at.manifest(b.ID), fs.ErrExist)
		}
		return err
	case err != nil:
		return err
	}
	// Readers see the batch from here on. Before it is durable nothing is said to be committed.
	if err := o.fs.SyncDir(o.at.dir(commitsDir)); err != nil {
		return fmt.Errorf("sync %s: %w", o.at.dir(commitsDir), err)
	}
	o.see(m)
	return nil
}

// committed reports whether b is committed as its staged bytes say.
func (o *output) committed(b sink.Batch, is digest) (bool, error) {
	m, err := readManifest(o.fs, o.at, b.ID)
	if m == nil || err != nil {
		return false, err
	}
	if m.Staged != is {
		return false, &sink.ConflictError{Batch: b}
	}
	// Whoever created it may have died before it was durable.
	if err := o.fs.SyncDir(o.at.dir(commitsDir)); err != nil {
		return false, fmt.Errorf("sync %s: %w", o.at.dir(commitsDir), err)
	}
	if o.listed {
		o.inherit(m)
	}
	return true, nil
}

// there refuses a batch one of whose files is missing or has another length.
func (o *output) there(id int64, f part) error {
	name := o.at.part(id, f)
	info, err := o.fs.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &DamageError{File: name, Problem: "missing"}
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &DamageError{File: name, Problem: "not a regular file"}
	case info.Size() != f.Bytes:
		return &DamageError{File: name, Problem: fmt.Sprintf("has %d bytes, want %d", info.Size(), f.Bytes)}
	}
	return nil
}

// create writes a manifest under a temporary name and then gives it its own, which must be free.
func (o *output) create(b sink.Batch, data []byte) error {
	var f File
	var name string
	for {
		o.attempts++
		name = o.at.temporary(b, o.attempts)
		var err error
		if f, err = o.fs.Create(name); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) { // by a process before this one
			return err
		}
	}
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = o.fs.Link(name, o.at.manifest(b.ID))
	}
	// Neither name needs the other. What cannot be removed is for Clean.
	_ = o.fs.Remove(name)
	return err
}

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/leat-io/leat/dstream/sink"
)

// An output is what the driver's calls know of an output's folder. Other processes may have changed the folder since.
type output struct {
	fs FS
	at paths

	mu       sync.Mutex // held by the driver's calls; guards what follows
	made     bool       // the folders are there, durably
	listed   bool       // newest is what a listing said, or later
	newest   newest
	marked   uint64 // the epoch this sink has left in epochs/
	cleaned  int64  // batches up to it hold nothing that no manifest names
	others   int64  // batches up to it may have been cleaned, but not durably, by a process before this one
	attempts int    // at temporary manifests
}

// newest is the last manifest.
type newest struct {
	found  bool
	id     int64
	epoch  uint64
	staged digest
	sum    digest
}

func (n newest) mark() sink.Mark {
	if !n.found {
		return sink.Mark{ID: -1}
	}
	return sink.Mark{ID: n.id, Epoch: n.epoch, Digest: n.staged}
}

// last returns the id, -1 where there is none.
func (n newest) last() int64 { return n.mark().ID }

// ready makes the folders. Those that are there may be the work of a process that died before they were durable, so all are
// synced, once for each sink.
func (o *output) ready(root string) error {
	if o.made {
		return nil
	}
	if err := makeAll(o.fs, root); err != nil {
		return err
	}
	app := filepath.Dir(o.at.root)
	for _, dir := range []string{app, o.at.root, o.at.dir(dataDir), o.at.dir(commitsDir), o.at.dir(epochsDir), o.at.dir(tmpDir)} {
		if err := o.fs.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	for _, dir := range []string{root, app, o.at.root} {
		if err := o.fs.SyncDir(dir); err != nil {
			return fmt.Errorf("sync %s: %w", dir, err)
		}
	}
	o.made = true
	return nil
}

// makeAll makes a folder and those above it, durably. Those that are there are synced too, all the way up: a process may have
// been killed between making and syncing them, before the power cut that is still to come.
func makeAll(fsys FS, dir string) error {
	above := filepath.Dir(dir)
	if above == dir {
		return nil
	}
	if err := makeAll(fsys, above); err != nil {
		return err
	}
	made := false
	info, err := fsys.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := fsys.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		made = true
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrExist}
	}
	err = fsys.SyncDir(above)
	if !made && (errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported)) {
		return nil // what is above is another's
	}
	if err != nil {
		return fmt.Errorf("sync %s: %w", above, err)
	}
	return nil
}

// list finds the newest manifest.
func (o *output) list() error {
	entries, err := o.fs.ReadDir(o.at.dir(commitsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	last := int64(-1)
	for _, e := range entries {
		if id, ok := parseNumber(e.Name()); ok {
			last = max(last, id)
		}
	}
	if last < 0 {
		o.listed, o.newest = true, newest{}
		return nil
	}
	m, err := readManifest(o.fs, o.at, last)
	if err == nil && m == nil {
		err = fmt.Errorf("%s was removed: %w", o.at.manifest(last), fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	o.listed = true
	o.inherit(m)
	return nil
}

// inherit takes note of a manifest that another sink may have made.
func (o *output) inherit(m *manifest) {
	o.see(m)
	o.others = max(o.others, m.Batch)
}

// see takes note of a manifest.
func (o *output) see(m *manifest) {
	if m.Batch >= o.newest.last() {
		o.newest = newest{found: true, id: m.Batch, epoch: m.Epoch, staged: m.Staged, sum: m.sum}
		o.cleaned = max(o.cleaned, m.Cleaned)
	}
}

// fewIDs is how many ids are looked at one by one; for more a folder is listed.
const fewIDs = 256

// lookUpTo makes newest the last manifest before batch id, which another sink may have committed.
func (o *output) lookUpTo(id int64) error {
	if !o.listed || id-o.newest.last() > fewIDs {
		return o.list()
	}
	for between := o.newest.last() + 1; between < id; between++ {
		m, err := readManifest(o.fs, o.at, between)
		if err != nil {
			return err
		}
		if m != nil {
			o.inherit(m)
		}
	}
	return nil
}

// fence refuses a driver that a later one has followed.
func (o *output) fence(b sink.Batch) error {
	if !o.listed {
		if err := o.list(); err != nil {
			return err
		}
	}
	have := o.newest.mark().Epoch
	entries, err := o.fs.ReadDir(o.at.dir(epochsDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if epoch, ok := parseEpoch(e.Name()); ok {
			have = max(have, epoch)
		}
	}
	if b.Epoch < have {
		return &sink.FencedError{Batch: b, Have: have}
	}
	return nil
}

// leaveEpoch makes b's epoch the one that drivers before it are refused by. It is not synced: after a power cut the manifests
// tell, and where these are lost too nothing was committed.
func (o *output) leaveEpoch(b sink.Batch) error {
	if o.marked == b.Epoch {
		return nil
	}
	f, err := o.fs.Create(o.at.epoch(b.Epoch))
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	entries, err := o.fs.ReadDir(o.at.dir(epochsDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if epoch, ok := parseEpoch(e.Name()); ok && epoch < b.Epoch {
			if err := o.fs.Remove(o.at.epoch(epoch)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	o.marked = b.Epoch
	return nil
}

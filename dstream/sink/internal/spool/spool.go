package spool

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
)

// errNotStaged says that staged bytes or a note are not a spool's.
var errNotStaged = errors.New("not what Seal returned")

// A Spool is a folder.
type Spool struct {
	dir string
	fs  files.FS

	mu      sync.Mutex         // guards outputs
	outputs map[string]*output // by folder
}

// New returns a spool in dir, which the first Begin makes. A nil file system is the operating system's.
func New(dir string, fsys files.FS) *Spool {
	if fsys == nil {
		fsys = files.OS{}
	}
	return &Spool{dir: filepath.Clean(dir), fs: fsys, outputs: make(map[string]*output)}
}

// Dir returns the folder.
func (s *Spool) Dir() string { return s.dir }

const (
	rowsDir  = "rows"
	marksDir = "marks"
)

// folder returns the folder of an output: no name of one is a path, and no two share it.
func (s *Spool) folder(app, name string) string {
	key := append(binary.AppendUvarint(nil, uint64(len(app))), app+name...)
	sum := sha256.Sum256(key)
	return filepath.Join(s.dir, fmt.Sprintf("%x", sum[:16]))
}

// An output is what the driver's calls know of a folder.
type output struct {
	fs  files.FS
	dir string

	mu   sync.Mutex // held by the driver's calls; guards what follows
	made bool       // the folders are there, durably
}

// output returns an output, locked.
func (s *Spool) output(app, name string) (o *output, free func()) {
	dir := s.folder(app, name)
	s.mu.Lock()
	o = s.outputs[dir]
	if o == nil {
		o = &output{fs: s.fs, dir: dir}
		s.outputs[dir] = o
	}
	s.mu.Unlock()
	o.mu.Lock()
	return o, o.mu.Unlock
}

// ready makes the folders. They may be the work of a process that died before they were durable, so all are synced.
func (o *output) ready() error {
	if o.made {
		return nil
	}
	for _, dir := range []string{o.dir, filepath.Join(o.dir, rowsDir), filepath.Join(o.dir, marksDir)} {
		if err := makeAll(o.fs, dir); err != nil {
			return err
		}
	}
	o.made = true
	return nil
}

// makeAll makes a folder and those above it, durably.
func makeAll(fsys files.FS, dir string) error {
	above := filepath.Dir(dir)
	if above == dir {
		return nil
	}
	if err := makeAll(fsys, above); err != nil {
		return err
	}
	err := fsys.Mkdir(dir)
	made := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if _, stat := fsys.Stat(dir); stat != nil {
			return err
		} // a folder that is there may be in one that cannot be written
	}
	err = fsys.SyncDir(above)
	if !made && (errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported)) {
		return nil // what is above is another's
	}
	return err
}

// Begin makes the folders of the output.
//
// Errors: *sink.FencedError where a later driver has delivered.
func (s *Spool) Begin(ctx context.Context, b sink.Batch, parts int) error {
	if err := usable(ctx, b); err != nil {
		return err
	}
	if parts < 0 || parts > maxPartitions {
		return fmt.Errorf("%v: %d partitions, want at most %d", b, parts, maxPartitions)
	}
	o, free := s.output(b.App, b.Output)
	defer free()
	err := o.ready()
	if err == nil {
		var m sink.Mark
		if m, err = o.last(); err == nil && b.Epoch < m.Epoch {
			return &sink.FencedError{Batch: b, Have: m.Epoch}
		}
	}
	if err != nil {
		return fmt.Errorf("%v: %w", b, err)
	}
	return nil
}

// Seal names the parts that count. Extra is the caller's: Commit gives it back.
func (s *Spool) Seal(ctx context.Context, b sink.Batch, notes [][]byte, extra int64) ([]byte, error) {
	if err := usable(ctx, b); err != nil {
		return nil, err
	}
	st := sealed{batch: b.ID, extra: extra}
	for i, note := range notes {
		if len(note) == 0 {
			continue
		}
		r := reader{data: note}
		p := r.part()
		if r.bad || len(r.data) > 0 || p.index != i {
			return nil, fmt.Errorf("%v, partition %d: the note is not what Finish returned", b, i)
		}
		st.parts = append(st.parts, p)
	}
	return st.append(nil), nil
}

// Staged is what a batch has in the spool.
type Staged struct {
	Parts []Part // that have rows; partitions rise
	Extra int64  // what Seal was given
}

// Commit delivers a batch, unless it has been, and remembers it.
//
// Errors: *sink.ConflictError and *sink.FencedError, which are final; deliver's.
func (s *Spool) Commit(ctx context.Context, b sink.Batch, staged []byte, deliver func(Staged) error) error {
	if err := usable(ctx, b); err != nil {
		return err
	}
	st, err := decodeSealed(staged)
	if err == nil && st.batch != b.ID {
		err = fmt.Errorf("staged for batch %d", st.batch)
	}
	if err != nil {
		return fmt.Errorf("commit %v: %w", b, err)
	}
	o, free := s.output(b.App, b.Output)
	defer free()
	digest := sha256.Sum256(staged)
	err = o.ready()
	var m sink.Mark
	if err == nil {
		m, err = o.last()
	}
	switch {
	case err != nil:
		return fmt.Errorf("commit %v: %w", b, err)
	case m.ID == b.ID && m.Digest != digest:
		return &sink.ConflictError{Batch: b}
	case m.ID >= b.ID:
		// Whoever made the mark may have died before it was durable.
		if err := o.fs.SyncDir(filepath.Join(o.dir, marksDir)); err != nil {
			return fmt.Errorf("commit %v: %w", b, err)
		}
		return nil
	case b.Epoch < m.Epoch:
		return &sink.FencedError{Batch: b, Have: m.Epoch}
	}
	all := Staged{Extra: st.extra}
	for _, p := range st.parts {
		all.Parts = append(all.Parts, Part{Index: p.index, Count: p.rows, fs: o.fs, name: o.rows(b, p), seed: seed(b, p), sum: p.sum})
	}
	if err := deliver(all); err != nil {
		return fmt.Errorf("commit %v: %w", b, err)
	}
	if err := o.mark(b, sink.Mark{ID: b.ID, Epoch: b.Epoch, Digest: digest}, m.ID); err != nil {
		return fmt.Errorf("commit %v: it is delivered: %w", b, err)
	}
	return nil
}

// Clean removes the rows of batches up to b, as far as they are delivered.
func (s *Spool) Clean(ctx context.Context, b sink.Batch) error {
	if err := usable(ctx, b); err != nil {
		return err
	}
	o, free := s.output(b.App, b.Output)
	defer free()
	err := o.ready()
	var m sink.Mark
	if err == nil {
		m, err = o.last()
	}
	if err == nil {
		err = o.removeRows(min(b.ID, m.ID))
	}
	if err == nil {
		err = o.removeMarks(m.ID)
	}
	if err != nil {
		return fmt.Errorf("clean %v: %w", b, err)
	}
	return nil
}

// removeRows removes the files of batches up to last.
func (o *output) removeRows(last int64) error {
	dir := filepath.Join(o.dir, rowsDir)
	entries, err := o.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		digits, _, _ := strings.Cut(e.Name(), "-")
		if id, ok := parseBatch(digits); ok && id <= last {
			if err := o.fs.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// Last returns the last batch that was delivered.
func (s *Spool) Last(ctx context.Context, app, name string) (sink.Mark, error) {
	if err := usable(ctx, sink.Batch{App: app, Output: name}); err != nil {
		return sink.Mark{ID: -1}, err
	}
	o, free := s.output(app, name)
	defer free()
	m, err := o.last()
	if err != nil {
		return sink.Mark{ID: -1}, fmt.Errorf("last batch of %s/%s: %w", app, name, err)
	}
	return m, nil
}

// usable returns why a call cannot be made.
func usable(ctx context.Context, b sink.Batch) error {
	if b.ID < 0 {
		return fmt.Errorf("%v: its id is negative", b)
	}
	return ended(ctx, b)
}

// ended returns why ctx has ended, if it has.
func ended(ctx context.Context, b sink.Batch) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%v: %w", b, context.Cause(ctx))
	}
	return nil
}

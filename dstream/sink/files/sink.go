package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/leat-io/leat/dstream/sink"
)

// Options say how a sink writes. Format is required.
type Options[T any] struct {
	// Format is how rows become bytes.
	Format Format[T]
	// FS is where files are; nil is the operating system's.
	FS FS
}

// Validate returns an error naming the first field that has no meaning.
func (o Options[T]) Validate() error { return o.Format.Validate() }

// String returns the format.
func (o Options[T]) String() string { return fmt.Sprintf("files of %v", o.Format) }

// A Sink keeps rows in files below a folder. Several applications and outputs may share the folder, and several sinks may be
// open on it.
type Sink[T any] struct {
	dir  string
	opts Options[T]
	fs   FS
	bad  error // why nothing can be written

	mu      sync.Mutex         // guards outputs
	outputs map[string]*output // by folder
}

// New returns a sink of files below dir, which the first Begin makes where it is missing.
//
// Errors: the first call reports options that have no meaning.
func New[T any](dir string, opts Options[T]) *Sink[T] {
	s := &Sink[T]{dir: filepath.Clean(dir), opts: opts, fs: opts.FS, outputs: make(map[string]*output)}
	if s.fs == nil {
		s.fs = OS{}
	}
	if s.bad = opts.Validate(); s.bad == nil {
		s.bad = try(opts.Format)
	}
	return s
}

// try returns why a format cannot write its rows, as far as it can be known before the first.
func try[T any](f Format[T]) error {
	e, err := f.NewEncoder(io.Discard)
	if err != nil {
		return err
	}
	return e.Close()
}

// Dir returns the folder.
func (s *Sink[T]) Dir() string { return s.dir }

// String returns format and folder.
func (s *Sink[T]) String() string { return fmt.Sprintf("%s files in %s", s.opts.Format.Name, s.dir) }

// Begin makes the folders of the output.
//
// Errors: *sink.FencedError where a later driver has committed.
func (s *Sink[T]) Begin(ctx context.Context, b sink.Batch, parts int) error {
	if err := s.usable(ctx, b); err != nil {
		return err
	}
	if parts < 0 || parts > maxPartitions {
		return fmt.Errorf("%v: %d partitions, want at most %d", b, parts, maxPartitions)
	}
	o, free := s.output(b.App, b.Output)
	defer free()
	if err := o.ready(s.dir); err != nil {
		return fmt.Errorf("%v: %w", b, err)
	}
	return o.fence(b)
}

// Part returns the writer of an attempt. The file of a partition is made with its first row.
func (s *Sink[T]) Part(ctx context.Context, b sink.Batch, index int, attempt string) (sink.Writer[T], error) {
	if err := s.usable(ctx, b); err != nil {
		return nil, err
	}
	if err := checkAttempt(attempt); err != nil {
		return nil, fmt.Errorf("%v, partition %d: %w", b, index, err)
	}
	if index < 0 || index >= maxPartitions {
		return nil, fmt.Errorf("%v: partition %d, want 0 to %d", b, index, maxPartitions-1)
	}
	return &writer[T]{sink: s, batch: b, at: pathsOf(s.dir, b.App, b.Output),
		file: part{Partition: index, Name: partName(index, attempt, s.opts.Format.Suffix)}}, nil
}

// Seal names the files that count.
func (s *Sink[T]) Seal(ctx context.Context, b sink.Batch, notes [][]byte) ([]byte, error) {
	if err := s.usable(ctx, b); err != nil {
		return nil, err
	}
	st := staging{Batch: b.ID, Format: s.opts.Format.Name, Lines: s.opts.Format.Lines, Partitions: len(notes)}
	for i, note := range notes {
		if len(note) == 0 {
			continue
		}
		r := reader{data: note}
		f := r.part()
		if r.err != nil || len(r.data) > 0 || f.Partition != i {
			return nil, fmt.Errorf("%v, partition %d: the note is not what Finish returned", b, i)
		}
		st.Files = append(st.Files, f)
	}
	if err := checkParts(st.Files, st.Partitions); err != nil {
		return nil, fmt.Errorf("%v: %w", b, err)
	}
	if len(st.Files) > 0 { // the first part made the batch's folder
		if err := s.fs.SyncDir(pathsOf(s.dir, b.App, b.Output).dir(dataDir)); err != nil {
			return nil, fmt.Errorf("%v: sync the folder of its folder: %w", b, err)
		}
	}
	return st.append(nil), nil
}

// Commit creates the manifest of the batch, unless it is there.
//
// Errors: *sink.ConflictError and *sink.FencedError; with sink.ErrFinal, ErrOrder and a *DamageError where a file that was
// staged is missing or has another length. After any other it is of use to call it again.
func (s *Sink[T]) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	if err := s.usable(ctx, b); err != nil {
		return err
	}
	st, err := decodeStaged(staged)
	if err == nil && st.Batch != b.ID {
		err = fmt.Errorf("staged for batch %d", st.Batch)
	}
	if err != nil {
		return fmt.Errorf("commit %v: %w", b, err)
	}
	o, free := s.output(b.App, b.Output)
	defer free()
	err = o.ready(s.dir)
	if err == nil {
		err = o.commit(b, st, sha256.Sum256(staged))
	}
	var conflict *sink.ConflictError
	var fenced *sink.FencedError
	if err == nil || errors.As(err, &conflict) || errors.As(err, &fenced) {
		return err
	}
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrOrder) {
		return fmt.Errorf("commit %v: %w: %w", b, err, sink.ErrFinal)
	}
	return fmt.Errorf("commit %v: %w", b, err)
}

// Clean removes files of batches up to b that no manifest names.
//
// Cost: a folder listing for each batch since the last Clean.
func (s *Sink[T]) Clean(ctx context.Context, b sink.Batch) error {
	if err := s.usable(ctx, b); err != nil {
		return err
	}
	o, free := s.output(b.App, b.Output)
	defer free()
	if err := o.ready(s.dir); err != nil {
		return fmt.Errorf("clean %v: %w", b, err)
	}
	if err := o.clean(b.ID); err != nil {
		return fmt.Errorf("clean %v: %w", b, err)
	}
	return nil
}

// Last returns what the newest manifest says.
//
// Cost: a listing of all manifests. Commit does without.
// Errors: *DamageError where the newest manifest is damaged.
func (s *Sink[T]) Last(ctx context.Context, app, name string) (sink.Mark, error) {
	if err := s.usable(ctx, sink.Batch{App: app, Output: name}); err != nil {
		return sink.Mark{ID: -1}, err
	}
	o, free := s.output(app, name)
	defer free()
	if err := o.list(); err != nil {
		return sink.Mark{ID: -1}, fmt.Errorf("last batch of %s/%s: %w", app, name, err)
	}
	return o.newest.mark(), nil
}

// usable returns why a call cannot be made.
func (s *Sink[T]) usable(ctx context.Context, b sink.Batch) error {
	if s.bad != nil {
		return s.bad
	}
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

// output returns what the driver's calls know of an output, locked.
func (s *Sink[T]) output(app, name string) (o *output, free func()) {
	p := pathsOf(s.dir, app, name)
	s.mu.Lock()
	o = s.outputs[p.root]
	if o == nil {
		o = &output{fs: s.fs, at: p, cleaned: -1, others: -1}
		s.outputs[p.root] = o
	}
	s.mu.Unlock()
	o.mu.Lock()
	return o, o.mu.Unlock
}

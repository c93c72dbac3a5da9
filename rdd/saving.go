package rdd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// A SaveOption is an option of the savers that write files.
type SaveOption func(*saveOptions)

type saveOptions struct {
	compression Compression
	overwrite   bool
}

// Compress compresses the files, whose names then end in .gz or .zst as well. Readers take such a file as one
// partition.
func Compress(c Compression) SaveOption { return func(o *saveOptions) { o.compression = c } }

// Overwrite lets a save write into a folder that is there already: the parts of an earlier save are removed first,
// other files stay.
func Overwrite() SaveOption { return func(o *saveOptions) { o.overwrite = true } }

// saving is a save without the type of the records.
type saving struct {
	subject
	action string
	opts   saveOptions
	// write pushes the records of a partition into w.
	write func(t *task, part int, w *bufio.Writer) error
}

func newSaving(r subject, action string, opts []SaveOption, write func(t *task, part int, w *bufio.Writer) error) saving {
	s := saving{subject: r, action: action, write: write}
	for _, opt := range opts {
		opt(&s.opts)
	}
	return s
}

// toFiles saves into files of a folder.
func (s saving) toFiles(ctx context.Context, dir, suffix string) error {
	c := s.opts.compression
	if c > Zstd {
		return &BuildError{Op: s.action, Site: s.ctx.callSite(), Err: fmt.Errorf("%w: %v", ErrArgument, c)}
	}
	return s.run(ctx, &fileCommitter{dir: dir, suffix: suffix + c.suffix(), overwrite: s.opts.overwrite})
}

// run saves through a committer.
func (s saving) run(ctx context.Context, c Committer) error {
	switch {
	case s.err != nil:
		return s.err
	case inTask(ctx): // before anything is touched, where the job would find out late
		return ErrNestedJob
	case s.ctx.stopped.Load():
		return ErrStopped
	}
	n, err := s.NumPartitions()
	if err != nil {
		return err
	}
	if err := s.ask(c, "SetupJob", func() error { return c.SetupJob(ctx, n) }); err != nil {
		return err
	}
	notes, err := everywhere(ctx, s.subject, s.action, func(t *task, part int) ([]byte, error) { return s.part(t, part, c) })
	if err == nil {
		if err = s.ask(c, "CommitJob", func() error { return c.CommitJob(ctx, notes) }); err == nil {
			return nil
		}
	}
	if failure := s.ask(c, "AbortJob", func() error { return c.AbortJob(context.WithoutCancel(ctx)) }); failure != nil {
		return errors.Join(err, failure)
	}
	return err
}

// ask calls a method of the committer on the caller's side. It is the program's: a panic is an error like others.
func (s saving) ask(c Committer, method string, f func() error) error {
	if err := guarded(f); err != nil {
		return fmt.Errorf("%s: %s of %s: %T.%s: %w", s.ctx.callSite(), s.action, s.String(), c, method, err)
	}
	return nil
}

// part writes and commits one partition.
func (s saving) part(t *task, part int, c Committer) (note []byte, err error) {
	at := place{node: s.base, part: part}
	var w PartWriter
	returned := false // neither a panic nor an end of the goroutine
	defer func() {
		if v := recover(); v != nil {
			note, err = nil, at.panicked(-1, v)
		}
		if (err != nil || !returned) && w != nil {
			// The cause goes back unchanged; what cannot be removed is for AbortJob.
			_ = guarded(func() error { return w.Abort(context.WithoutCancel(t.ctx)) })
		}
	}()
	note, err = s.writePart(t, part, c, &w)
	returned = true
	return note, err
}

// writePart writes and commits one partition through a writer that the caller aborts if it fails.
func (s saving) writePart(t *task, part int, c Committer, to *PartWriter) ([]byte, error) {
	w, err := c.CreatePart(t.ctx, part, t.env.Attempt())
	*to = w // to be aborted, also where it comes with an error
	if err != nil {
		return nil, err
	}
	if err = s.fill(t, part, w); err != nil {
		return nil, err
	}
	if err = context.Cause(t.ctx); err != nil {
		return nil, err // the job is over; AbortJob may have been here
	}
	if err = mayCommit(t); err != nil {
		return nil, err
	}
	return w.Commit(t.ctx)
}

// fill writes the records of a partition.
func (s saving) fill(t *task, part int, w io.Writer) error {
	packed, err := s.opts.compression.writer(tallyWriter{w, &t.env.Metrics().OutputBytes})
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(packed, 64<<10)
	if err := s.write(t, part, buf); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	return packed.Close()
}

// tallyWriter adds up the bytes that are written.
type tallyWriter struct {
	io.Writer
	sum *int64
}

func (w tallyWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	*w.sum += int64(n)
	return n, err
}

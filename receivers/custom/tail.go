package custom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/leat-io/leat/receivers"
)

// headSize is how much of the beginning of a file tells it from another.
const headSize = 64

// Tail returns a receiver of the lines that are, and will be, in the file at path.
//
// Cost: while nothing is written, three looks at the file for each Poll.
// Errors: Receive returns options that cannot be used, and what opening or reading failed with, with path and offset. A
// line that is too long is reported to the sink.
func Tail(path string, opts Options) receivers.Receiver[string] {
	return &tail{path: path, opts: opts.withDefaults(), bad: opts.Validate(), fromEnd: opts.FromEnd}
}

// tail keeps what the next Receive needs to go on without gap or double: which file it was in, and where. The file
// itself it opens each time, so that nothing is left open in between.
type tail struct {
	path string
	opts Options
	bad  error // what is wrong with the options

	fromEnd bool        // the next file that is opened is read from its end
	last    os.FileInfo // the file that offset is about; nil for none
	offset  int64       // behind the last line that the sink took, or that was left out
	head    []byte      // the first bytes of that file, up to headSize
	skip    bool        // the line at offset is too long, which was said
}

// Validate returns what is wrong with the options.
func (r *tail) Validate() error { return r.bad }

// Receive stores lines until ctx ends or something fails.
func (r *tail) Receive(ctx context.Context, sink receivers.Sink[string]) error {
	if r.bad != nil {
		return r.bad
	}
	for {
		if err := r.follow(ctx, sink); err != nil {
			return err
		}
	}
}

// follow reads the file that is now under the path, until another takes its place.
func (r *tail) follow(ctx context.Context, sink receivers.Sink[string]) error {
	f, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer f.Close() // nothing was written
	buffer := make([]byte, readSize)
	for kept := 0; ; {
		n, err := f.ReadAt(buffer[kept:], r.offset+int64(kept))
		if err != nil && err != io.EOF {
			return fmt.Errorf("read %s at byte %d: %w", r.path, r.offset, err)
		}
		text := buffer[:kept+n]
		if kept, err = r.store(ctx, sink, text); err != nil {
			return err
		}
		copy(buffer, text[len(text)-kept:])
		if kept == len(buffer) {
			buffer = append(buffer, make([]byte, len(buffer))...) // a long line; store bounds it
		}
		if n > 0 {
			continue
		}
		if err := wait(ctx, r.opts.Poll); err != nil {
			return err
		}
		change, err := r.changed(f, int64(kept)) // before what may be another text is read
		if err != nil {
			return err
		}
		if change == replaced {
			return r.leave(ctx, sink, buffer[:kept])
		}
		if change == truncated {
			kept = 0
		}
	}
}

// open opens the file, waiting until there is one, and decides where to begin.
func (r *tail) open(ctx context.Context) (*os.File, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := os.Open(r.path)
		if err == nil {
			if err = r.begin(f); err == nil {
				return f, nil
			}
			_ = f.Close() // nothing was written
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("follow %s: %w", r.path, err)
		}
		r.fromEnd = false // what appears from now on is new
		if err := wait(ctx, r.opts.Poll); err != nil {
			return nil, err
		}
	}
}

// begin decides where in f to begin: where it was left, if it is the same file, else at its beginning.
func (r *tail) begin(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	switch {
	case r.fromEnd:
		r.offset, r.skip = info.Size(), false
	case r.last == nil || !os.SameFile(r.last, info) || info.Size() < r.offset || !r.knows(f):
		r.rewind()
	}
	r.fromEnd, r.last = false, info
	return nil
}

// rewind goes to the beginning of a file that was not read yet.
func (r *tail) rewind() { r.offset, r.head, r.skip = 0, nil, false }

// knows reports whether f still begins as it did. Its number alone says little: a new file may have that of an
// old one, and one that was truncated may have grown again.
func (r *tail) knows(f *os.File) bool {
	now := make([]byte, min(headSize, r.offset))
	n, err := f.ReadAt(now, 0)
	if n < len(now) && err != nil || !bytes.HasPrefix(now, r.head) {
		return false
	}
	r.head = now
	return true
}

// leave ends with a file that is no more, and whose end ends its last line.
func (r *tail) leave(ctx context.Context, sink receivers.Sink[string], rest []byte) error {
	if len(rest) > 0 && !r.skip {
		if err := sink.Store(ctx, string(bytes.TrimSuffix(rest, []byte{'\r'}))); err != nil {
			return err
		}
	}
	r.last = nil
	r.rewind()
	return nil
}

// change is what became of a file that has been read to its end.
type change int

const (
	grown     change = iota // or it will be
	truncated               // it is to be read from its beginning
	replaced                // another has its name, or none
)

// changed looks for what happened to the open file, of which kept bytes behind the position are read. It moves the
// position if the file was truncated.
func (r *tail) changed(f *os.File, kept int64) (change, error) {
	// First the name, then the size: what was written before another file got the name is read before this one is left.
	named, err := os.Stat(r.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return grown, fmt.Errorf("follow %s: %w", r.path, err)
	}
	info, statErr := f.Stat()
	if statErr != nil {
		return grown, fmt.Errorf("follow %s: %w", r.path, statErr)
	}
	switch {
	case info.Size() < r.offset+kept || !r.knows(f):
		r.rewind()
		return truncated, nil
	case info.Size() > r.offset+kept: // written since the read that found nothing
		return grown, nil
	case err == nil && os.SameFile(named, info):
		return grown, nil
	}
	return replaced, nil
}

// store stores the whole lines of text, which begins at the position, and returns how many bytes are left over. The position
// follows what the sink took.
func (r *tail) store(ctx context.Context, sink receivers.Sink[string], text []byte) (left int, err error) {
	for {
		end := bytes.IndexByte(text, '\n')
		line := text
		if end >= 0 {
			line = bytes.TrimSuffix(text[:end], []byte{'\r'})
		}
		if len(line) > r.opts.MaxLine && !r.skip {
			r.skip = true
			sink.ReportError(fmt.Errorf("%s: line at byte %d is longer than %d bytes", r.path, r.offset, r.opts.MaxLine))
		}
		if end < 0 && !r.skip {
			return len(text), nil
		}
		if end < 0 { // in the middle of a line that is left out
			r.offset += int64(len(text))
			return 0, nil
		}
		if !r.skip {
			if err := sink.Store(ctx, string(line)); err != nil {
				return 0, err
			}
		}
		r.skip = false
		r.offset += int64(end) + 1
		text = text[end+1:]
	}
}

// wait returns after d, or with ctx's error.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

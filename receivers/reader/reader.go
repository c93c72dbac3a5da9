package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/internal/lines"
)

// Lines returns a receiver of the text lines of r.
//
// Cost: the lines that one read completed are stored with one call, and share memory of 32 KiB at most.
// Errors: Receive returns options that cannot be used and what reading failed with, with the offset. Lines that are too
// long are reported to the sink.
func Lines(r io.Reader, opts Options) receivers.Receiver[string] {
	return &reader{src: r, opts: opts, cut: lines.NewReader(r, opts.withDefaults().MaxLine)}
}

// reader keeps between two calls of Receive what was read and not stored, and a read that could not be woken.
type reader struct {
	src  io.Reader
	opts Options
	cut  *lines.Reader // belongs to the goroutine that reads

	rest    []string  // read and not stored
	err     error     // what came behind rest
	reading chan read // the result of a read under way; nil without one
	ended   bool      // the input has, and Ended was called
}

// errGoexit is the result of a read that ended its goroutine.
var errGoexit = errors.New("the reader ended its goroutine")

// read is the result of one read.
type read struct {
	lines []string
	err   error
}

// Validate returns what is wrong with the options.
func (r *reader) Validate() error {
	if r.src == nil {
		return errors.Join(r.opts.Validate(), &receivers.OptionError{Option: "r", Value: nil, Reason: "want a reader"})
	}
	return r.opts.Validate()
}

// Receive stores lines until ctx ends.
func (r *reader) Receive(ctx context.Context, sink receivers.Sink[string]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.Validate(); err != nil {
		return err
	}
	next, release := r.wakeable(ctx)
	defer release()
	var room []string
	for {
		taken, err := receivers.StoreEach(ctx, sink, r.rest)
		if taken < len(r.rest) {
			r.rest = append([]string(nil), r.rest[taken:]...)
			return err
		}
		clear(r.rest) // the block alone keeps the text
		room, r.rest = r.rest[:0], nil
		end := r.err
		r.err = nil
		long, tooLong := errors.AsType[*lines.TooLongError](end)
		switch {
		case tooLong:
			sink.ReportError(fmt.Errorf("read lines: %w", long))
		case end == io.EOF:
			r.ended = true
			if r.opts.Ended != nil {
				r.opts.Ended()
			}
		case end != nil:
			return fmt.Errorf("read lines at byte %d: %w", r.cut.Offset(), end)
		}
		if r.ended {
			<-ctx.Done() // there is nothing to start again for
			return ctx.Err()
		}
		if err := next(ctx, room); err != nil {
			return err
		}
	}
}

// wakeable returns how to read, and what to call when Receive returns.
func (r *reader) wakeable(ctx context.Context) (next func(context.Context, []string) error, release func()) {
	if r.reading != nil {
		return r.nextApart, func() {} // the read that could not be woken comes first
	}
	if r.opts.Interrupt != nil {
		unwatch := context.AfterFunc(ctx, r.opts.Interrupt)
		return r.nextHere, func() { unwatch() }
	}
	deadline, ok := r.src.(interface{ SetReadDeadline(time.Time) error })
	if !ok || deadline.SetReadDeadline(time.Time{}) != nil {
		return r.nextApart, func() {}
	}
	woken := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(woken)
		_ = deadline.SetReadDeadline(time.Unix(1, 0)) // it worked a moment ago, and else the read ends with the input
	})
	return r.nextHere, func() {
		if !unwatch() {
			<-woken
			_ = deadline.SetReadDeadline(time.Time{}) // as above
		}
	}
}

// nextHere reads on this goroutine; ctx wakes it.
func (r *reader) nextHere(ctx context.Context, room []string) error {
	r.rest, r.err = r.cut.Next(room)
	if r.err != nil && ctx.Err() != nil && (r.opts.Interrupt != nil || errors.Is(r.err, os.ErrDeadlineExceeded)) {
		if r.err != io.EOF {
			r.err = nil // it is the wake-up; what it interrupted is asked for again
		}
		return ctx.Err()
	}
	return nil
}

// nextApart reads on a goroutine of its own, which a read that cannot be woken leaves behind until it returns. The
// result is the way to wait for it.
func (r *reader) nextApart(ctx context.Context, room []string) error {
	if r.reading == nil {
		reading := make(chan read, 1) // bounded: holds the one result
		r.reading = reading
		go func() {
			got := read{err: errGoexit}
			defer func() {
				if v := recover(); v != nil {
					got = read{err: fmt.Errorf("the reader panicked: %v", v)}
				}
				reading <- got
			}()
			got.lines, got.err = r.cut.Next(room)
		}()
	}
	select {
	case got := <-r.reading:
		r.reading = nil
		r.rest, r.err = got.lines, got.err
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

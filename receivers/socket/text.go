package socket

import (
	"context"
	"errors"
	"fmt"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/internal/lines"
)

// LineTooLongError says that a line did not end within the longest length allowed.
type LineTooLongError struct {
	Addr   string
	Offset int64 // of the first byte of the line, from the beginning of the connection
	Limit  int   // in bytes
}

// Error returns the address, the offset and the limit.
func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("line at byte %d from %s is longer than %d bytes", e.Offset, e.Addr, e.Limit)
}

// Text returns a receiver of the text lines that the server at addr, a host and port, sends.
//
// Cost: the lines that one read completed are stored with one call, and share memory of 32 KiB at most.
// Errors: Receive returns options that cannot be used; a failed connection; [*LineTooLongError]; what reading failed
// with, with address and offset; an error that wraps [io.EOF] when the server ends the stream. All of them have the
// supervisor connect again.
func Text(addr string, opts Options) receivers.Receiver[string] {
	return &text{server{addr: addr, opts: opts}}
}

type text struct{ server }

// Receive connects and stores lines until ctx ends or the connection does.
func (r *text) Receive(ctx context.Context, sink receivers.Sink[string]) error {
	return r.connected(ctx, func(opts Options, in *counted) error {
		cut := lines.NewReader(in, opts.MaxLine)
		var batch []string
		for {
			var err error
			batch, err = cut.Next(batch[:0])
			if _, storing := receivers.StoreEach(ctx, sink, batch); storing != nil {
				return storing
			}
			clear(batch) // the block alone keeps the text
			if long, ok := errors.AsType[*lines.TooLongError](err); ok {
				return &LineTooLongError{Addr: r.addr, Offset: long.Offset, Limit: long.Limit}
			}
			if err != nil {
				return &readError{err}
			}
		}
	})
}

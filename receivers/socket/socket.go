package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/leat-io/leat/receivers"
)

// Defaults of [Options].
const (
	DefaultMaxLine     = 64 << 20
	DefaultDialTimeout = 30 * time.Second
)

// Options configures [Text]. The zero value works.
type Options struct {
	// MaxLine is the longest line in bytes, without its terminator. Zero means 64 MiB. A longer line ends the
	// connection, since a stream that never ends its line must not fill memory.
	MaxLine int

	// DialTimeout is how long a connection may take to be made. Zero means 30 s.
	DialTimeout time.Duration

	// Dial makes the connection. Nil dials TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
}

// Validate returns a [*receivers.OptionError] for each option that cannot be used, joined.
func (o Options) Validate() error {
	var errs []error
	if o.MaxLine < 0 {
		errs = append(errs, &receivers.OptionError{Option: "MaxLine", Value: o.MaxLine, Reason: "want zero for the default, or more"})
	}
	if o.DialTimeout < 0 {
		errs = append(errs, &receivers.OptionError{Option: "DialTimeout", Value: o.DialTimeout, Reason: "want zero for the default, or more"})
	}
	return errors.Join(errs...)
}

// String returns the options in effect, defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("lines of at most %d bytes, dial within %v", o.MaxLine, o.DialTimeout)
}

func (o Options) withDefaults() Options {
	if o.MaxLine == 0 {
		o.MaxLine = DefaultMaxLine
	}
	if o.DialTimeout == 0 {
		o.DialTimeout = DefaultDialTimeout
	}
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", addr)
		}
	}
	return o
}

// Text returns a receiver of the text lines that the server at addr, a host and port, sends.
//
// Errors: Receive returns options that cannot be used; a failed connection; [*LineTooLongError]; what reading failed
// with, with address and offset; an error that wraps [io.EOF] when the server ends the stream. All of them have the
// supervisor connect again.
func Text(addr string, opts Options) receivers.Receiver[string] {
	return &text{addr: addr, opts: opts}
}

type text struct {
	addr string
	opts Options
}

// Receive connects and stores lines until ctx ends or the connection does.
func (r *text) Receive(ctx context.Context, sink receivers.Sink[string]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.opts.Validate(); err != nil {
		return err
	}
	opts := r.opts.withDefaults()
	dialing, dialed := context.WithTimeout(ctx, opts.DialTimeout)
	conn, err := opts.Dial(dialing, r.addr)
	dialed()
	if err != nil {
		return fmt.Errorf("connect to %s: %w", r.addr, err)
	}
	// Closing is what wakes a read. A conn may be closed twice.
	unwatch := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		unwatch()
		_ = conn.Close()
	}()
	lines := newLineReader(conn, r.addr, opts.MaxLine)
	for {
		line, err := lines.next()
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err() // the connection was closed because of it
			}
			if _, ok := errors.AsType[*LineTooLongError](err); ok {
				return err
			}
			if errors.Is(err, io.EOF) {
				return fmt.Errorf("%s ended the stream after %d bytes: %w", r.addr, lines.offset, err)
			}
			return fmt.Errorf("read %s at byte %d: %w", r.addr, lines.offset, err)
		}
		if err := sink.Store(ctx, line); err != nil {
			return err
		}
	}
}

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
	DefaultMaxFrame    = 64 << 20
	DefaultDialTimeout = 30 * time.Second
)

// Options configures the receivers of this package. The zero value works.
type Options struct {
	// MaxLine is the longest line of [Text] in bytes, without its terminator. Zero means 64 MiB. A longer line ends the
	// connection, since a stream that never ends its line must not fill memory.
	MaxLine int

	// MaxFrame is the longest payload of [Frames] in bytes. Zero means 64 MiB. A longer one ends the connection.
	MaxFrame int

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
	if o.MaxFrame < 0 {
		errs = append(errs, &receivers.OptionError{Option: "MaxFrame", Value: o.MaxFrame, Reason: "want zero for the default, or more"})
	}
	if o.DialTimeout < 0 {
		errs = append(errs, &receivers.OptionError{Option: "DialTimeout", Value: o.DialTimeout, Reason: "want zero for the default, or more"})
	}
	return errors.Join(errs...)
}

// String returns the options in effect, defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("lines of at most %d bytes, frames of at most %d, dial within %v", o.MaxLine, o.MaxFrame, o.DialTimeout)
}

func (o Options) withDefaults() Options {
	if o.MaxLine == 0 {
		o.MaxLine = DefaultMaxLine
	}
	if o.MaxFrame == 0 {
		o.MaxFrame = DefaultMaxFrame
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

// server is where a receiver connects to, and how.
type server struct {
	addr string
	opts Options
}

// Validate returns what is wrong with the options.
func (s *server) Validate() error { return s.opts.Validate() }

// connected makes a connection and calls read with it, once. The connection ends with ctx, which wakes read, and with
// read's return. The end of the stream is an error, as all others are.
func (s *server) connected(ctx context.Context, read func(opts Options, in *counted) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.Validate(); err != nil {
		return err
	}
	opts := s.opts.withDefaults()
	dialing, dialed := context.WithTimeout(ctx, opts.DialTimeout)
	conn, err := opts.Dial(dialing, s.addr)
	dialed()
	if err != nil {
		return fmt.Errorf("connect to %s: %w", s.addr, err)
	}
	// Closing is what wakes a read. A conn may be closed twice.
	unwatch := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		unwatch()
		_ = conn.Close()
	}()
	in := &counted{src: conn}
	err = read(opts, in)
	if ctx.Err() != nil {
		return ctx.Err() // the connection was closed because of it
	}
	if failed, ok := errors.AsType[*readError](err); ok {
		if errors.Is(failed.err, io.EOF) {
			return fmt.Errorf("%s ended the stream after %d bytes: %w", s.addr, in.offset, failed.err)
		}
		return fmt.Errorf("read %s at byte %d: %w", s.addr, in.offset, failed.err)
	}
	return err
}

// readError marks an error of the connection or of what came over it, to which connected adds address and offset.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

// counted counts the bytes read from a connection.
type counted struct {
	src    io.Reader
	offset int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.offset += int64(n)
	return n, err
}

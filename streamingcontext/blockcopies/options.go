package blockcopies

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"
)

// What Options means by zero.
const (
	DefaultCopies   = 2
	DefaultTimeout  = 10 * time.Second
	DefaultRetry    = 500 * time.Millisecond
	DefaultMaxConns = 16
)

// MaxBlock is the most bytes of a block that is kept in copies.
const MaxBlock = 16 << 20

// Network is how drivers reach each other: a listener of the connections that come for this protocol, and a way to make one. A
// *link.Protocol is one.
type Network interface {
	net.Listener
	// DialContext connects to an address until ctx ends. Called from any goroutine. Where the connection has a method PeerID() string, as those of
	// package link have, only the member of that ID is taken for it.
	DialContext(ctx context.Context, address string) (net.Conn, error)
}

// A Member is a driver that may have copies.
type Member struct {
	ID      string // as Options.ID is there
	Address string // what is dialled
}

// Options configures Copies. ID and Members are required unless Copies is 1.
type Options struct {
	// ID is the driver's own among Members.
	ID string
	// Copies is on how many drivers a block is durable before it is acknowledged, this one among them. 0 means 2. With 1 a block is
	// acknowledged as soon as it is on this disk, and what the others have not got yet goes with the machine.
	Copies int
	// Members returns the drivers that there are now, this one among them or not. It is called often, from any goroutine, and must not block.
	Members func() []Member
	// Timeout is how long another driver may take to connect, and to answer. 0 means 10 s.
	Timeout time.Duration
	// Retry is the wait before a driver that could not be reached is tried again; it grows to eight times this. 0 means 500 ms.
	Retry time.Duration
	// MaxConns is how many connections are served at a time; others wait. 0 means 16.
	MaxConns int
	// SegmentBytes is at how many bytes a segment of this driver's log is full. 0 means 64 MiB.
	SegmentBytes int64
	// Logger gets an Info when a driver's log is taken over, a Warn while blocks wait for copies, for drivers that cannot be reached and for
	// what is damaged. Nil discards.
	Logger *slog.Logger
}

// Validate returns an error for each option that cannot be used, joined.
func (o Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("option "+format, args...)) }
	if o.Copies < 0 {
		bad("Copies is %d: want 0 or more", o.Copies)
	}
	if o.Copies != 1 && o.Members == nil {
		bad("Members is nil: nobody is there to have a copy")
	}
	if o.Members != nil && o.ID == "" {
		bad("ID is empty: it is needed to know the others")
	}
	if o.Timeout < 0 || o.Retry < 0 {
		bad("Timeout is %v and Retry %v: want 0 or more", o.Timeout, o.Retry)
	}
	if o.MaxConns < 0 {
		bad("MaxConns is %d: want 0 or more", o.MaxConns)
	}
	if o.SegmentBytes < 0 {
		bad("SegmentBytes is %d: want 0 or more", o.SegmentBytes)
	}
	return errors.Join(errs...)
}

// String returns the options in effect, defaults filled in.
func (o Options) String() string {
	o = o.filled()
	return fmt.Sprintf("driver %s, %d copies, timeout %v, tried again after %v, at most %d connections", o.ID, o.Copies, o.Timeout, o.Retry, o.MaxConns)
}

func (o Options) filled() Options {
	if o.Copies == 0 {
		o.Copies = DefaultCopies
	}
	if o.Members == nil {
		o.Members = func() []Member { return nil }
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Retry == 0 {
		o.Retry = DefaultRetry
	}
	if o.MaxConns == 0 {
		o.MaxConns = DefaultMaxConns
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

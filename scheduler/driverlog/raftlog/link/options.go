package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"time"
)

// What Options means by zero.
const (
	DefaultName             = "driver"
	DefaultHandshakeTimeout = 5 * time.Second
	DefaultDialTimeout      = 5 * time.Second
	DefaultMaxConns         = 256
)

// Options says how a Link or a Dialer is made. The zero value is a node at a port of the loopback interface that the system chooses.
type Options struct {
	// Address is what Listen listens on, a host and port. Empty means 127.0.0.1:0. Without TLS it must be of the loopback interface.
	Address string
	// TLS names the files of certificates. Nil means none, and then both ends of every connection are on this machine.
	TLS *TLS
	// Cluster returns the id of the cluster that the node is of, 32 hex digits, or "" before it is known. It is called for every
	// connection, from any goroutine, and must not block. Nil means never known.
	Cluster func() string
	// Name is the name of the node: letters, digits, '-' and '.', at most 64. With TLS its certificate has it among its DNS names. Empty means
	// the first of these, without TLS "driver".
	Name string
	// ID is Name, '-' and 16 hex digits: that of the member which this node is, see raftlog.Identify, for others take nobody else for it. Empty means fresh
	// digits, for who is no member.
	ID string
	// Build says to others what program this is, at most 128 bytes of text. Empty means the version that the program was built as.
	Build string
	// HandshakeTimeout is how long a connection that comes in may take to say what it wants, and how long it then waits to be
	// accepted. Zero means 5 seconds.
	HandshakeTimeout time.Duration
	// DialTimeout is how long dialling may take, hello included, where the caller does not say. Zero means 5 seconds.
	DialTimeout time.Duration
	// MaxConns is the number of connections that have come in and not been closed, at most. Zero means 256. It is not that of those that
	// have yet to say who they are: of these there are at most 64, and the oldest gives way to the newest.
	MaxConns int
	// Logger gets an Info when Run begins and when certificates are replaced, and a Warn for what is refused: one a minute for each pair
	// of host and reason. Nil discards.
	Logger *slog.Logger
	// Network is where the connections are. Nil is TCP; another is for tests, and its addresses may be anything.
	Network Network
}

// Network makes connections.
type Network interface {
	// Listen returns a listener at an address. Called once by Listen of this package.
	Listen(address string) (net.Listener, error)
	// DialContext connects to an address until ctx ends. Called from any goroutine.
	DialContext(ctx context.Context, address string) (net.Conn, error)
}

// Validate returns an error for options that Listen would refuse, without looking at files.
func (o Options) Validate() error {
	if err := o.validate(); err != nil {
		return fmt.Errorf("link: %w", err)
	}
	if o.TLS == nil && o.Network == nil {
		return CheckLoopback(o.withDefaults().Address)
	}
	return nil
}

// validate leaves out the address, which only those who listen have.
func (o Options) validate() error {
	if o.Name != "" {
		if err := CheckName(o.Name); err != nil {
			return err
		}
	}
	if o.ID != "" {
		if name, ok := nameOf(o.ID); !ok {
			return CheckID(o.ID)
		} else if o.Name != "" && name != o.Name {
			return fmt.Errorf("node id %s is not of node %s", o.ID, o.Name)
		}
	}
	if err := CheckBuild(o.Build); err != nil {
		return err
	}
	switch {
	case o.HandshakeTimeout < 0 || o.DialTimeout < 0:
		return fmt.Errorf("handshake timeout %s, dial timeout %s", o.HandshakeTimeout, o.DialTimeout)
	case o.MaxConns < 0:
		return fmt.Errorf("at most %d connections", o.MaxConns)
	case o.TLS != nil && (o.TLS.CA == "" || o.TLS.Certificate == "" || o.TLS.Key == ""):
		return errors.New("TLS needs all of CA, certificate and key: " + o.TLS.String())
	}
	return nil
}

// String returns the options as they are used, defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	security := "loopback only"
	if o.TLS != nil {
		security = o.TLS.String()
	}
	return fmt.Sprintf("node %s at %s, %s, handshake timeout %s, dial timeout %s, at most %d connections",
		o.Name, o.Address, security, o.HandshakeTimeout, o.DialTimeout, o.MaxConns)
}

func (o Options) withDefaults() Options {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.Cluster == nil {
		o.Cluster = func() string { return "" }
	}
	if o.Name == "" && o.ID != "" {
		o.Name, _ = nameOf(o.ID)
	}
	if o.Name == "" && o.TLS == nil {
		o.Name = DefaultName
	}
	if o.Build == "" {
		o.Build = builtVersion()
	}
	if o.HandshakeTimeout == 0 {
		o.HandshakeTimeout = DefaultHandshakeTimeout
	}
	if o.DialTimeout == 0 {
		o.DialTimeout = DefaultDialTimeout
	}
	if o.MaxConns == 0 {
		o.MaxConns = DefaultMaxConns
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Network == nil {
		o.Network = tcp{loopback: o.TLS == nil}
	}
	return o
}

// builtVersion returns the path and version of the running program's module.
func builtVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	text := strings.TrimSpace(info.Main.Path + " " + info.Main.Version)
	if CheckBuild(text) != nil {
		return ""
	}
	return text
}

// tcp is the network of real connections.
type tcp struct{ loopback bool }

// Listen listens at a host and port.
func (n tcp) Listen(address string) (net.Listener, error) {
	if n.loopback {
		if err := CheckLoopback(address); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if n.loopback { // what localhost stands for is up to the system
		if err := CheckLoopback(listener.Addr().String()); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	return listener, nil
}

// DialContext connects to a host and port.
func (n tcp) DialContext(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	if n.loopback {
		if err := CheckLoopback(address); err != nil {
			return nil, err
		}
		d.Control = onlyLoopback
	}
	return d.DialContext(ctx, "tcp", address)
}

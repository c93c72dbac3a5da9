package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// ErrClosed is returned for what is asked of a Link, Protocol or Dialer that is closed. It is net.ErrClosed.
var ErrClosed = net.ErrClosed

// maxHandshakes is the number of connections, at most, that have yet to say who they are. The oldest gives way to the newest: ends
// that say nothing keep nobody out for longer than it takes to say who one is.
const maxHandshakes = 64

// A Link is one port through which a node reaches others and is reached, for several protocols. It is made by Listen.
type Link struct {
	opts     Options // of dialer, complete
	dialer   *Dialer
	config   *tls.Config // nil without TLS
	listener net.Listener
	refusals refusals
	serving  sync.WaitGroup // one for each handshake; added to under mu while the link is not closed
	closing  chan struct{}  // closed when the link is
	finished chan struct{}  // closed when Run has returned

	mu         sync.Mutex // guards what follows; nothing else is locked under it
	protocols  map[string]*Protocol
	handshakes []*handshake // the oldest first
	open       map[*Conn]struct{}
	accepted   uint64
	running    bool
	closed     bool
}

// Listen returns a link that has its port. Run takes connections; until then those that come wait.
//
// Errors: ErrNotLoopback without TLS; *RefusedError and the errors of crypto/x509 for a certificate that others would not take: it must be valid
// now, for a server and a client, of the authority and with the node's name; what the options have wrong; what listening returns.
func Listen(opts Options) (*Link, error) {
	dialer, err := newDialer(opts, true)
	if err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	l := &Link{
		opts: dialer.opts, dialer: dialer, closing: make(chan struct{}), finished: make(chan struct{}),
		protocols: map[string]*Protocol{}, open: map[*Conn]struct{}{},
	}
	l.refusals.logger = dialer.opts.Logger
	if dialer.certificates != nil {
		l.config = dialer.certificates.serverConfig(alpn, checkALPN)
	}
	if l.listener, err = dialer.opts.Network.Listen(dialer.opts.Address); err != nil {
		return nil, fmt.Errorf("link: listen on %s: %w", dialer.opts.Address, err)
	}
	return l, nil
}

// Addr returns the address that the link listens on.
func (l *Link) Addr() net.Addr { return l.listener.Addr() }

// Run takes connections until ctx ends or Close is called. It goes on whatever those who connect do, and where the system refuses to
// give connections, which it does for want of files. Then it closes the link and waits for all that it started.
//
// Errors: nil when ctx has ended or Close was called; ErrClosed where Run was called before, or Close; the listener's where it is closed by
// somebody else.
func (l *Link) Run(ctx context.Context) error {
	l.mu.Lock()
	if l.running || l.closed {
		l.mu.Unlock()
		return fmt.Errorf("link: run: %w", ErrClosed)
	}
	l.running = true
	l.mu.Unlock()
	defer close(l.finished)
	stop := context.AfterFunc(ctx, l.shut)
	l.opts.Logger.Info("link listens", "node", l.opts.ID, "address", l.Addr().String(), "tls", l.config != nil)
	err := l.acceptAll()
	if !stop() {
		<-l.closing // shut has begun in another goroutine
	}
	l.shut()
	l.serving.Wait()
	_ = l.dialer.Close()
	return err
}

// acceptAll begins a handshake with whoever connects.
func (l *Link) acceptAll() error {
	var wait time.Duration
	for {
		raw, err := l.listener.Accept()
		switch {
		case err == nil:
			wait = 0
			l.begin(raw)
			continue
		case l.isClosed():
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("link: accept on %s: %w", l.Addr(), err)
		case wait == 0:
			l.opts.Logger.Warn("connections cannot be accepted for now", "address", l.Addr().String(), "error", err)
		}
		wait = min(max(2*wait, 5*time.Millisecond), time.Second)
		select {
		case <-time.After(wait):
		case <-l.closing:
		}
	}
}

func (l *Link) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Close closes the port and every connection that came in through it, ends what is being dialled, and waits for Run. Connections that were
// dialled stay with those who dialled them. It may be called more than once.
func (l *Link) Close() error {
	l.shut()
	l.mu.Lock()
	running := l.running
	l.mu.Unlock()
	if running {
		<-l.finished
	}
	_ = l.dialer.Close()
	return nil
}

// DialContext connects to a node's link and asks for a protocol, as Dialer.DialContext does.
func (l *Link) DialContext(ctx context.Context, protocol, address string) (net.Conn, error) {
	return l.dialer.DialContext(ctx, protocol, address)
}

// ID returns the id that others are told.
func (l *Link) ID() string { return l.opts.ID }

// Build returns what others are told of the program: Options.Build, or the version that it was built as. Nobody is refused for it: nodes of
// different builds are members of one cluster while a program is replaced.
func (l *Link) Build() string { return l.opts.Build }

// shut closes everything and waits for nothing.
func (l *Link) shut() {
	l.dialer.cancelAll()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	close(l.closing)
	_ = l.listener.Close() // nothing is lost by what it could not do
	for _, h := range l.handshakes {
		_ = h.raw.Close()
	}
	for c := range l.open {
		_ = c.raw.Close()
	}
	for _, p := range l.protocols {
		p.end()
	}
}

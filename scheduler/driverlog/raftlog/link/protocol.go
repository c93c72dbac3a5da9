package link

import (
	"context"
	"fmt"
	"net"
	"time"
)

// maxUnclaimed is the number of a protocol's connections, at most, that wait to be accepted.
const maxUnclaimed = 16

// A Protocol is the part of a link that one protocol has: a listener of the connections that ask for it, and a way to ask others. It
// is made by Link.Protocol.
type Protocol struct {
	link    *Link
	name    string
	waiting chan *Conn    // unbuffered: whoever offers waits, at most maxUnclaimed of them
	done    chan struct{} // closed when the protocol or the link is

	// Guarded by Link.mu.
	unclaimed int
	closed    bool
}

var _ net.Listener = (*Protocol)(nil)

// Protocol returns the protocol of a name: letters, digits, '-' and '.', at most 32. Connections that ask for it are taken from then on
// until it is closed; after that Protocol makes a new one. Another call gives the same.
//
// Errors: of a link that is closed and of a wrong name all calls of the Protocol return an error.
func (l *Link) Protocol(name string) *Protocol {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.protocols[name]; p != nil {
		return p
	}
	p := &Protocol{link: l, name: name, waiting: make(chan *Conn), done: make(chan struct{})}
	if l.closed || !isName(name, maxProtocol) {
		p.end()
		return p
	}
	l.protocols[name] = p
	return p
}

// Accept returns the next connection, a *Conn, whose other end is known and has agreed.
//
// Errors: ErrClosed when the protocol or its link is closed. No other.
func (p *Protocol) Accept() (net.Conn, error) {
	select {
	case c := <-p.waiting:
		return c, nil
	case <-p.done:
		return nil, &net.OpError{Op: "accept", Net: p.name, Addr: p.link.Addr(), Err: ErrClosed}
	}
}

// Dial connects to a node's link and asks for the protocol. The timeout is for all of it, hello included; zero and less mean
// Options.DialTimeout. The connection has no deadline and is a *Conn.
//
// Errors: as Dialer.DialContext.
func (p *Protocol) Dial(address string, timeout time.Duration) (net.Conn, error) {
	if timeout <= 0 {
		timeout = p.link.opts.DialTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return p.DialContext(ctx, address)
}

// DialContext is Dial until ctx ends.
func (p *Protocol) DialContext(ctx context.Context, address string) (net.Conn, error) {
	select {
	case <-p.done:
		return nil, &net.OpError{Op: "dial", Net: p.name, Err: ErrClosed}
	default:
		return p.link.DialContext(ctx, p.name, address)
	}
}

// Addr returns the address of the link.
func (p *Protocol) Addr() net.Addr { return p.link.Addr() }

// Close ends the protocol: those who ask for it are refused from then on, and those that wait to be accepted are closed. Connections that were
// accepted go on. It may be called more than once.
func (p *Protocol) Close() error {
	p.link.mu.Lock()
	defer p.link.mu.Unlock()
	if p.link.protocols[p.name] == p {
		delete(p.link.protocols, p.name)
	}
	p.end()
	return nil
}

// end is called with Link.mu held.
func (p *Protocol) end() {
	if !p.closed {
		p.closed = true
		close(p.done)
	}
}

// reserve finds the protocol that is asked for and makes room in it and the link.
func (l *Link) reserve(name string, c *Conn) (*Protocol, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.protocols[name]
	switch {
	case p == nil || p.closed:
		return nil, refused(UnknownProtocol, fmt.Sprintf("nobody speaks %s here", name))
	case l.closed:
		return nil, fmt.Errorf("link: %w", ErrClosed)
	case len(l.open) >= l.opts.MaxConns:
		return nil, refused(Busy, fmt.Sprintf("%d are open", len(l.open)))
	case p.unclaimed >= maxUnclaimed:
		return nil, refused(Busy, fmt.Sprintf("%d wait for %s", p.unclaimed, name))
	}
	p.unclaimed++
	c.link = l
	l.open[c] = struct{}{}
	return p, nil
}

// release gives back the place among those that wait.
func (p *Protocol) release() {
	p.link.mu.Lock()
	defer p.link.mu.Unlock()
	p.unclaimed--
}

func (l *Link) agreed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted++
}

// offer waits until somebody accepts the connection, for a while.
func (p *Protocol) offer(c *Conn) {
	defer p.release()
	p.link.agreed()
	patience := time.NewTimer(p.link.opts.HandshakeTimeout)
	defer patience.Stop()
	select {
	case p.waiting <- c:
		return
	case <-p.done:
	case <-patience.C:
		p.link.refusals.note(&RefusedError{Peer: c.peer, Reason: Busy, Detail: "nobody accepted it for " + p.name})
	}
	_ = c.raw.Close()
	_ = c.Close()
}

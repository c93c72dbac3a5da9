package proctest

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// A Proxy listens on loopback and hands connections on to an address, until it is cut.
type Proxy struct {
	target   string
	listener net.Listener
	work     sync.WaitGroup

	mu     sync.Mutex
	to     gate
	from   gate
	conns  map[net.Conn]bool
	closed bool
}

// A gate holds up one direction. Who would pass takes its channel and waits until it is closed.
type gate struct{ open chan struct{} } // nil: open

// dialTimeout bounds how long a proxy tries to reach its target.
const dialTimeout = 5 * time.Second

// StartProxy starts a proxy for connections to target. Close ends it.
func StartProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy for %s: %w", target, err)
	}
	p := &Proxy{target: target, listener: l, conns: map[net.Conn]bool{}}
	p.work.Go(p.accept)
	return p, nil
}

// Addr returns where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Cut holds up what goes to the target, what comes from it, or both; nobody is told. What neither of them names flows again.
func (p *Proxy) Cut(to, from bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to.set(to)
	p.from.set(from)
}

// Heal lets everything flow again: Cut of nothing.
func (p *Proxy) Heal() { p.Cut(false, false) }

// Reset closes all connections, which both ends notice.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close() // its pumps end, and forget it
	}
}

// Close ends the proxy and its connections. It may be called again.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.to.set(false)
	p.from.set(false)
	p.mu.Unlock()
	err := p.listener.Close()
	p.Reset()
	p.work.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (g *gate) set(closed bool) {
	switch {
	case closed && g.open == nil:
		g.open = make(chan struct{})
	case !closed && g.open != nil:
		close(g.open)
		g.open = nil
	}
}

// pass waits until a direction is open.
func (p *Proxy) pass(g *gate) {
	for {
		p.mu.Lock()
		open := g.open
		p.mu.Unlock()
		if open == nil {
			return
		}
		<-open
	}
}

// keep takes note of a connection, so that it is closed with the proxy; false if that is over.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *Proxy) accept() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.serve(in) })
	}
}

// serve hands one connection on. Over a network that is gone it is not even made.
func (p *Proxy) serve(in net.Conn) {
	defer p.drop(in)
	if !p.keep(in) {
		return
	}
	p.pass(&p.to)
	out, err := net.DialTimeout("tcp", p.target, dialTimeout)
	if err != nil {
		return
	}
	defer p.drop(out)
	if !p.keep(out) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { p.pump(in, out, &p.from) })
	p.pump(out, in, &p.to)
	back.Wait()
}

// pump copies from src to dst while g is open. When either ends both do.
func (p *Proxy) pump(dst, src net.Conn, g *gate) {
	defer dst.Close()
	defer src.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			p.pass(g)
			if _, err := dst.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			p.pass(g)
			return
		}
	}
}

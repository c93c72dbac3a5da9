package linktest

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
)

// A Network is a network in memory. Its addresses are any texts. Bytes that are written wait until they are read. The zero value has no
// listeners.
type Network struct {
	// Cut says whether nothing gets from one address to another: who dials then waits until its context ends, as for a machine that is
	// gone. Nil means never. From is what the method From was given, "" for connections of the Network itself. It is called from any
	// goroutine. Connections that exist are not affected.
	Cut func(from, to string) bool

	mu        sync.Mutex // guards listeners
	listeners map[string]*listener
}

var _ link.Network = (*Network)(nil)

// From returns the network as it is seen from an address, which is where its connections come from.
func (n *Network) From(address string) link.Network { return seen{n, address} }

// Listen returns a listener at an address that nobody listens at.
func (n *Network) Listen(address string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners = map[string]*listener{}
	}
	if n.listeners[address] != nil {
		return nil, fmt.Errorf("address %s is in use", address)
	}
	l := &listener{network: n, address: addr(address), waiting: make(chan net.Conn), done: make(chan struct{})}
	n.listeners[address] = l
	return l, nil
}

// DialContext connects to a listener, and waits until it accepts.
func (n *Network) DialContext(ctx context.Context, address string) (net.Conn, error) {
	return n.dial(ctx, "", address)
}

func (n *Network) dial(ctx context.Context, from, to string) (net.Conn, error) {
	if n.Cut != nil && n.Cut(from, to) {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: addr(to), Err: ctx.Err()}
	}
	n.mu.Lock()
	l := n.listeners[to]
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: addr(to), Err: fmt.Errorf("nobody listens")}
	}
	near, far := net.Pipe()
	select {
	case l.waiting <- named{far, addr(to), addr(from)}:
		return named{near, addr(from), addr(to)}, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: addr(to), Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: addr(to), Err: ctx.Err()}
	}
}

// seen is a network as it is seen from an address.
type seen struct {
	*Network
	from string
}

// DialContext connects from the address.
func (s seen) DialContext(ctx context.Context, address string) (net.Conn, error) {
	return s.dial(ctx, s.from, address)
}

type listener struct {
	network *Network
	address addr
	waiting chan net.Conn
	done    chan struct{}
	once    sync.Once
}

// Accept returns the next connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.waiting:
		return c, nil
	case <-l.done:
		return nil, &net.OpError{Op: "accept", Net: "memory", Addr: l.address, Err: net.ErrClosed}
	}
}

// Close gives up the address.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.listeners, string(l.address))
		l.network.mu.Unlock()
		close(l.done) // whoever sees it closed can listen
	})
	return nil
}

// Addr returns the address.
func (l *listener) Addr() net.Addr { return l.address }

// named is a pipe whose ends have addresses.
type named struct {
	net.Conn
	local, remote addr
}

// LocalAddr returns the address of this end.
func (c named) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the other end.
func (c named) RemoteAddr() net.Addr { return c.remote }

type addr string

// Network returns "memory".
func (addr) Network() string { return "memory" }

// String returns the address.
func (a addr) String() string { return string(a) }

package failover

import (
	"context"
	"net"
	"os"
	"sync"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
)

// A fabric is a network of pipes. Each way between two addresses can be cut for itself, as it is for connections that exist: what is
// written then waits, and gets there when the way is whole again, unless the writer gives up.
type fabric struct {
	mu      sync.Mutex
	ports   map[string]*port
	cut     map[[2]string]bool // from, to
	delay   time.Duration      // of everything written
	changed chan struct{}      // closed and replaced with every change
}

func newFabric(delay time.Duration) *fabric {
	return &fabric{ports: map[string]*port{}, cut: map[[2]string]bool{}, delay: delay, changed: make(chan struct{})}
}

// A port is the network as the process at an address has it.
type port struct {
	fabric  *fabric
	address string
	conns   chan net.Conn
	gone    chan struct{} // closed by lose and Close
	once    sync.Once

	wires map[*wire]struct{} // guarded by fabric.mu
}

var _ link.Network = (*port)(nil)

// attach returns the network of a new process at an address.
func (f *fabric) attach(address string) *port {
	p := &port{fabric: f, address: address, conns: make(chan net.Conn), gone: make(chan struct{}), wires: map[*wire]struct{}{}}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ports[address] = p
	return p
}

// lose ends everything that a process has to do with the network.
func (p *port) lose() {
	_ = p.Close()
	p.fabric.mu.Lock()
	wires := make([]*wire, 0, len(p.wires))
	for w := range p.wires { // the order does not matter: all are closed
		wires = append(wires, w)
	}
	p.fabric.mu.Unlock()
	for _, w := range wires {
		_ = w.Close()
	}
}

func (f *fabric) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

// sever cuts the ways from some addresses to others.
func (f *fabric) sever(from, to []string) {
	f.set(func() {
		for _, a := range from {
			for _, b := range to {
				f.cut[[2]string{a, b}] = true
			}
		}
	})
}

func (f *fabric) heal() { f.set(func() { clear(f.cut) }) }

func (f *fabric) way(from, to string) (cut bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cut[[2]string{from, to}], f.changed
}

// Listen returns the port.
func (p *port) Listen(string) (net.Listener, error) { return p, nil }

// Accept returns the next connection.
func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.gone:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (p *port) Close() error {
	p.once.Do(func() { close(p.gone) })
	return nil
}

// Addr returns the address.
func (p *port) Addr() net.Addr { return addr(p.address) }

// DialContext connects to a port, once both ways are whole.
func (p *port) DialContext(ctx context.Context, to string) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: addr(to), Err: err}
	}
	for {
		there, changed := p.fabric.way(p.address, to)
		back, _ := p.fabric.way(to, p.address)
		if !there && !back {
			break
		}
		select {
		case <-changed:
		case <-p.gone:
			return fail(net.ErrClosed)
		case <-ctx.Done():
			return fail(ctx.Err())
		}
	}
	p.fabric.mu.Lock()
	other := p.fabric.ports[to]
	p.fabric.mu.Unlock()
	if other == nil {
		return fail(os.ErrNotExist)
	}
	near, far := net.Pipe()
	select {
	case other.conns <- newWire(other, far, p.address):
		return newWire(p, near, to), nil
	case <-other.gone:
		return fail(os.ErrNotExist)
	case <-p.gone:
		return fail(net.ErrClosed)
	case <-ctx.Done():
		return fail(ctx.Err())
	}
}

// A wire is one end of a connection.
type wire struct {
	net.Conn
	port   *port
	to     string
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	deadline time.Time
}

func newWire(p *port, c net.Conn, to string) *wire {
	w := &wire{Conn: c, port: p, to: to, closed: make(chan struct{})}
	p.fabric.mu.Lock()
	defer p.fabric.mu.Unlock()
	p.wires[w] = struct{}{}
	return w
}

func (w *wire) LocalAddr() net.Addr  { return addr(w.port.address) }
func (w *wire) RemoteAddr() net.Addr { return addr(w.to) }

func (w *wire) SetDeadline(t time.Time) error {
	w.mu.Lock()
	w.deadline = t
	w.mu.Unlock()
	return w.Conn.SetDeadline(t)
}

func (w *wire) SetWriteDeadline(t time.Time) error {
	w.mu.Lock()
	w.deadline = t
	w.mu.Unlock()
	return w.Conn.SetWriteDeadline(t)
}

func (w *wire) Close() error {
	w.once.Do(func() {
		close(w.closed)
		w.port.fabric.mu.Lock()
		delete(w.port.wires, w)
		w.port.fabric.mu.Unlock()
	})
	return w.Conn.Close()
}

// Write waits as long as bytes take to get there, and while the way is cut.
func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	deadline := w.deadline
	w.mu.Unlock()
	var expired, arrived <-chan time.Time
	if !deadline.IsZero() {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		expired = t.C
	}
	if w.port.fabric.delay > 0 {
		t := time.NewTimer(w.port.fabric.delay)
		defer t.Stop()
		arrived = t.C
	}
	for {
		cut, changed := w.port.fabric.way(w.port.address, w.to)
		if !cut && arrived == nil {
			return w.Conn.Write(b)
		}
		select {
		case <-changed:
		case <-arrived:
			arrived = nil
		case <-expired:
			return 0, os.ErrDeadlineExceeded
		case <-w.closed:
			return 0, net.ErrClosed
		}
	}
}

type addr string

func (addr) Network() string  { return "memory" }
func (a addr) String() string { return string(a) }

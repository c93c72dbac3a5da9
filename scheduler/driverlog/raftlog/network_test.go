package raftlog_test

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// A fabric connects nodes in memory. Ways between them can be cut, each way for itself, and be slow.
type fabric struct {
	mu      sync.Mutex
	nodes   map[string]*port
	cut     map[[2]string]bool // from, to
	delay   time.Duration
	changed chan struct{}
}

func newFabric() *fabric {
	return &fabric{nodes: map[string]*port{}, cut: map[[2]string]bool{}, changed: make(chan struct{})}
}

// A port is a node's Network.
type port struct {
	fabric  *fabric
	address string
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (f *fabric) listen(address string) *port {
	p := &port{fabric: f, address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[address] = p
	return p
}

func (f *fabric) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

// block cuts the way from one node to another, and isolate all ways of one.
func (f *fabric) block(from, to string) { f.set(func() { f.cut[[2]string{from, to}] = true }) }

func (f *fabric) isolate(address string) {
	f.set(func() {
		for other := range f.nodes {
			f.cut[[2]string{address, other}] = true
			f.cut[[2]string{other, address}] = true
		}
	})
}

func (f *fabric) heal() { f.set(func() { clear(f.cut) }) }

func (f *fabric) slow(d time.Duration) { f.set(func() { f.delay = d }) }

func (f *fabric) way(from, to string) (cut bool, delay time.Duration, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cut[[2]string{from, to}], f.delay, f.changed
}

func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *port) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *port) Addr() net.Addr { return addr(p.address) }

func (p *port) Dial(to string, timeout time.Duration) (net.Conn, error) {
	p.fabric.mu.Lock()
	other := p.fabric.nodes[to]
	p.fabric.mu.Unlock()
	if other == nil {
		return nil, fmt.Errorf("dial %s: nobody listens", to)
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		there, _, changed := p.fabric.way(p.address, to)
		back, _, _ := p.fabric.way(to, p.address)
		if !there && !back {
			break
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil, os.ErrDeadlineExceeded
		}
	}
	a, b := net.Pipe()
	select {
	case other.conns <- newWire(p.fabric, b, to, p.address):
		return newWire(p.fabric, a, p.address, to), nil
	case <-other.closed:
		return nil, fmt.Errorf("dial %s: nobody listens", to)
	case <-timer.C:
		return nil, os.ErrDeadlineExceeded
	}
}

// A wire is one end of a connection. What is written waits while the way is cut.
type wire struct {
	net.Conn
	fabric   *fabric
	from, to string
	closed   chan struct{}
	once     sync.Once
	mu       sync.Mutex
	deadline time.Time
}

func newWire(f *fabric, c net.Conn, from, to string) *wire {
	return &wire{Conn: c, fabric: f, from: from, to: to, closed: make(chan struct{})}
}

func (w *wire) SetDeadline(t time.Time) error {
	w.mu.Lock()
	w.deadline = t
	w.mu.Unlock()
	return w.Conn.SetDeadline(t)
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	deadline := w.deadline
	w.mu.Unlock()
	var expired <-chan time.Time
	if !deadline.IsZero() {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		expired = t.C
	}
	_, delay, _ := w.fabric.way(w.from, w.to)
	var arrived <-chan time.Time
	if delay > 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		arrived = t.C
	}
	for {
		cut, _, changed := w.fabric.way(w.from, w.to)
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

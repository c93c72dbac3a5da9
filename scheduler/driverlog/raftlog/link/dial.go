package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// A Dialer connects to the links of nodes. It is part of a Link; NewDialer makes one for those that are not reached themselves.
type Dialer struct {
	opts         Options
	certificates *certificates // nil without TLS
	dialling     sync.WaitGroup

	mu      sync.Mutex // guards what follows; nothing else is locked under it
	cancels map[int]context.CancelFunc
	next    int
	closed  bool
}

// NewDialer returns a dialer without a port: for tools that send requests to nodes. Its certificate need not be one for servers.
// Address, HandshakeTimeout and MaxConns do not count.
//
// Errors: as Listen's, but for those of listening.
func NewDialer(opts Options) (*Dialer, error) {
	d, err := newDialer(opts, false)
	if err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	return d, nil
}

func newDialer(opts Options, server bool) (*Dialer, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	d := &Dialer{cancels: map[int]context.CancelFunc{}}
	if opts.TLS != nil {
		var err error
		if d.certificates, err = newCertificates(*opts.TLS, opts.Name, server, opts.Logger); err != nil {
			return nil, err
		}
		opts.Name = d.certificates.name
	}
	if opts.ID == "" {
		opts.ID = newID(opts.Name)
	}
	d.opts = opts
	return d, nil
}

// ID returns the id that others are told.
func (d *Dialer) ID() string { return d.opts.ID }

// hello returns what this end says of itself.
func (d *Dialer) hello(protocol string) (hello, error) {
	cluster := d.opts.Cluster()
	if cluster != "" {
		if err := CheckCluster(cluster); err != nil {
			return hello{}, err
		}
	}
	return hello{protocol, cluster, d.opts.ID, d.opts.Build}, nil
}

// DialContext connects to a node's link and asks for a protocol, until ctx ends; Options.DialTimeout counts where ctx has no
// deadline. The connection has no deadline and is a *Conn.
//
// Errors: *RefusedError, by this end or by the other; ErrNotLoopback without TLS; ErrClosed; ctx's; what connecting returns.
func (d *Dialer) DialContext(ctx context.Context, protocol, address string) (net.Conn, error) {
	var cancel context.CancelFunc
	if _, bounded := ctx.Deadline(); bounded {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithTimeout(ctx, d.opts.DialTimeout)
	}
	defer cancel()
	id, err := d.enter(cancel)
	if err != nil {
		return nil, fmt.Errorf("dial %s at %s: %w", protocol, address, err)
	}
	defer d.leave(id)
	conn, err := d.dial(ctx, protocol, address)
	if err == nil {
		return conn, nil
	}
	if d.isClosed() {
		err = ErrClosed
	}
	return nil, fmt.Errorf("dial %s at %s: %w", protocol, address, err)
}

func (d *Dialer) dial(ctx context.Context, protocol, address string) (*Conn, error) {
	own, err := d.hello(protocol)
	switch {
	case err != nil:
		return nil, err
	case !isName(protocol, maxProtocol):
		return nil, fmt.Errorf("protocol name %.80q", protocol)
	case own.cluster == "" && protocol != Admin:
		e := refused(NoCluster, fmt.Sprintf("this node may ask for %s only, not for %s", Admin, protocol))
		e.Peer.Address = address
		return nil, e
	}
	raw, err := d.opts.Network.DialContext(ctx, address)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	_ = raw.SetDeadline(deadline) // where it has none, the end of ctx closes it
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	conn := &Conn{Conn: raw, raw: raw, peer: Peer{Address: address}}
	if err = d.greet(ctx, conn, own); err == nil && stop() {
		return conn, raw.SetDeadline(time.Time{})
	}
	stop()
	_ = raw.Close()
	if cause := ctx.Err(); errors.Is(cause, context.Canceled) || err == nil {
		return nil, cause
	}
	e := classify(err)
	if e.Reason == Late || !e.Remote && e.Reason == HungUp && ctx.Err() != nil {
		e.Reason, e.Err = Late, context.DeadlineExceeded
	}
	e.Peer = conn.peer
	return nil, e
}

// greet exchanges hellos.
func (d *Dialer) greet(ctx context.Context, conn *Conn, own hello) error {
	var certificate *x509.Certificate
	if d.certificates != nil {
		secure := tls.Client(conn.raw, d.certificates.clientConfig())
		if err := secure.HandshakeContext(ctx); err != nil {
			return err
		}
		conn.Conn, certificate = secure, secure.ConnectionState().PeerCertificates[0]
	}
	_, unsent := conn.Write(appendFrame(nil, helloFrame, own.append(nil)))
	body, err := readFrame(conn, helloFrame) // even where the hello could not be sent: a refusal may have come before
	if err != nil {
		if told := (*RefusedError)(nil); unsent != nil && !errors.As(err, &told) && classify(err).Reason == HungUp {
			err = unsent
		}
		return d.decline(conn, err)
	}
	theirs, err := decodeHello(body)
	if err != nil {
		return d.decline(conn, err)
	}
	name, _ := nameOf(theirs.node)
	conn.peer.ID, conn.peer.Name, conn.peer.Cluster, conn.peer.Build = theirs.node, name, theirs.cluster, theirs.build
	if err := errors.Join(checkName(theirs, certificate), checkAnswer(own, theirs)); err != nil {
		return d.decline(conn, err)
	}
	_, err = conn.Write(appendFrame(nil, goFrame, nil))
	return err
}

// decline tells the other end where it is this end that refuses, and returns why.
func (d *Dialer) decline(conn *Conn, err error) error {
	if e := (*RefusedError)(nil); errors.As(err, &e) && !e.Remote {
		sayNo(conn, e)
	}
	return err
}

// Close ends what is being dialled and waits for it. Connections that were returned stay as they are. It may be called more than once.
func (d *Dialer) Close() error {
	d.cancelAll()
	d.dialling.Wait()
	return nil
}

func (d *Dialer) cancelAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, cancel := range d.cancels {
		cancel()
	}
}

func (d *Dialer) isClosed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

func (d *Dialer) enter(cancel context.CancelFunc) (id int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, ErrClosed
	}
	d.dialling.Add(1)
	d.next++
	d.cancels[d.next] = cancel
	return d.next, nil
}

func (d *Dialer) leave(id int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.cancels, id)
	d.dialling.Done()
}

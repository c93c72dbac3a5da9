package link

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// How one takes leave of those that are refused: a connection that is closed while there is something in it to read is cut off, and the
// refusal with it. So the rest is read, for a moment.
const (
	lingerTime = time.Second
	lingerSize = 64 << 10
)

// handshake is a connection whose other end is not known yet.
type handshake struct {
	raw     net.Conn
	evicted bool // it gave way to a newer one; guarded by Link.mu
}

// begin starts the handshake with an end that has connected.
func (l *Link) begin(raw net.Conn) {
	h := &handshake{raw: raw}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = raw.Close()
		return
	}
	if len(l.handshakes) >= maxHandshakes {
		oldest := l.handshakes[0]
		l.handshakes = l.handshakes[1:]
		oldest.evicted = true
		_ = oldest.raw.Close()
	}
	l.handshakes = append(l.handshakes, h)
	l.serving.Go(func() { l.serve(h) })
}

// serve is a handshake from its beginning until the connection is handed out or closed.
func (l *Link) serve(h *handshake) {
	_ = h.raw.SetDeadline(time.Now().Add(l.opts.HandshakeTimeout)) // a connection that has no deadlines is closed by Close alone
	conn, protocol, err := l.greet(h.raw)
	if err != nil {
		l.refuse(h, conn, err)
	}
	l.end(h)
	if err == nil {
		_ = h.raw.SetDeadline(time.Time{})
		protocol.offer(conn)
	}
}

// end takes a handshake off the list.
func (l *Link) end(h *handshake) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.handshakes {
		if other == h {
			l.handshakes = append(l.handshakes[:i:i], l.handshakes[i+1:]...)
			return
		}
	}
}

// greet exchanges hellos. It returns a connection with each error that the other end can be told.
func (l *Link) greet(raw net.Conn) (*Conn, *Protocol, error) {
	conn := &Conn{Conn: raw, raw: raw, peer: Peer{Address: raw.RemoteAddr().String()}}
	var certificate *x509.Certificate
	if l.config != nil {
		secure := tls.Server(raw, l.config)
		if err := secure.Handshake(); err != nil {
			if record := (tls.RecordHeaderError{}); !errors.As(err, &record) || record.Conn == nil {
				conn.Conn = nil // it speaks TLS, and its alert has told it
			}
			return conn, nil, err
		}
		conn.Conn, certificate = secure, secure.ConnectionState().PeerCertificates[0]
	}
	body, err := readFrame(conn, helloFrame)
	if err != nil {
		return conn, nil, err
	}
	theirs, err := decodeHello(body)
	if err != nil {
		return conn, nil, err
	}
	name, _ := nameOf(theirs.node)
	conn.peer.ID, conn.peer.Name, conn.peer.Cluster, conn.peer.Build = theirs.node, name, theirs.cluster, theirs.build
	own, err := l.dialer.hello(theirs.protocol)
	if err != nil {
		return conn, nil, err
	}
	if err := errors.Join(checkName(theirs, certificate), checkCaller(theirs, own.cluster)); err != nil {
		return conn, nil, err
	}
	protocol, err := l.reserve(theirs.protocol, conn)
	if err != nil {
		return conn, nil, err
	}
	if err := l.confirm(conn, own); err != nil {
		protocol.release()
		l.forget(conn)
		return conn, nil, err
	}
	return conn, protocol, nil
}

// confirm answers a hello and waits until the other end takes the answer.
func (l *Link) confirm(conn net.Conn, own hello) error {
	if _, err := conn.Write(appendFrame(nil, helloFrame, own.append(nil))); err != nil {
		return err
	}
	body, err := readFrame(conn, goFrame)
	if err == nil && len(body) > 0 {
		err = refused(Malformed, fmt.Sprintf("%d bytes where none are due", len(body)))
	}
	return err
}

// refuse tells the other end why it is refused, notes it and closes the connection.
func (l *Link) refuse(h *handshake, conn *Conn, err error) {
	e := classify(err)
	l.mu.Lock()
	if h.evicted {
		e = refused(Busy, fmt.Sprintf("%d newer connections came before its hello", maxHandshakes))
	}
	closed := l.closed
	l.mu.Unlock()
	e.Peer = conn.peer
	if !closed {
		l.refusals.note(e)
	}
	if !e.Remote && e.Reason != HungUp {
		takeLeave(conn, e)
	}
	_ = h.raw.Close()
}

// takeLeave sends a refusal, where the connection can carry one, and reads what was on its way.
func takeLeave(c *Conn, e *RefusedError) {
	_ = c.raw.SetDeadline(time.Now().Add(lingerTime))
	if c.Conn != nil {
		sayNo(c.Conn, e)
	}
	if half, ok := c.raw.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.CopyN(io.Discard, c.raw, lingerSize)
}

// sayNo sends a refusal. What goes wrong with it is the other end's loss.
func sayNo(c net.Conn, e *RefusedError) { _, _ = c.Write(appendRefusal(nil, e)) }

package link

import "net"

// A Conn is a connection whose ends know each other. With TLS it is encrypted.
type Conn struct {
	net.Conn
	raw  net.Conn // what carries Conn, the same without TLS
	peer Peer
	link *Link // that it came in through, nil where it was dialled
}

// Peer returns the other end, as it said in its hello.
func (c *Conn) Peer() Peer { return c.peer }

// PeerID returns the id of the other end, as it said in its hello.
func (c *Conn) PeerID() string { return c.peer.ID }

// Close closes the connection.
func (c *Conn) Close() error {
	err := c.Conn.Close()
	if c.link != nil {
		c.link.forget(c)
	}
	return err
}

// forget makes room for another connection.
func (l *Link) forget(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

package raftlog

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// A layer is a Network as raft wants it: it knows the address that others dial, and every connection, so that they can be cut.
type layer struct {
	Network
	address string
	dial    time.Duration // how long a Dial may take
	others  strangers

	mu     sync.Mutex
	conns  map[*layerConn]struct{}
	closed bool
}

type layerConn struct {
	net.Conn
	layer *layer
}

// Close closes the connection.
func (c *layerConn) Close() error {
	c.layer.mu.Lock()
	delete(c.layer.conns, c)
	c.layer.mu.Unlock()
	return c.Conn.Close()
}

func (l *layer) keep(conn net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	c := &layerConn{Conn: conn, layer: l}
	l.mu.Lock()
	closed := l.closed
	if !closed {
		l.conns[c] = struct{}{}
	}
	l.mu.Unlock()
	if closed {
		_ = conn.Close() // nobody will use it
		return nil, net.ErrClosed
	}
	return c, nil
}

// Accept returns the next connection.
func (l *layer) Accept() (net.Conn, error) { return l.keep(l.Network.Accept()) }

// Dial returns a connection to a member, see callee.
func (l *layer) Dial(called raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	id, address := parts(called)
	conn, err := l.Network.Dial(address, min(timeout, l.dial))
	if err == nil {
		if err = l.others.check(conn, id, address); err != nil {
			_ = conn.Close()
		}
	}
	return l.keep(conn, err)
}

// Addr returns the address that others dial.
func (l *layer) Addr() net.Addr { return dialAddr(l.address) }

// Close closes the network and every connection.
func (l *layer) Close() error {
	l.mu.Lock()
	l.closed = true
	conns := make([]net.Conn, 0, len(l.conns))
	for c := range l.conns { // the order does not matter: all are closed
		conns = append(conns, c.Conn)
	}
	clear(l.conns)
	l.mu.Unlock()
	err := l.Network.Close()
	for _, c := range conns {
		_ = c.Close() // it is given up
	}
	return err
}

type dialAddr string

// Network returns the name of the network.
func (dialAddr) Network() string { return "raft" }

// String returns the address.
func (a dialAddr) String() string { return string(a) }

// A transport is raft's, with a look at what passes: what members have received, and what must not reach raft.
type transport struct {
	*raft.NetworkTransport
	rpcs    chan raft.RPC
	stop    chan struct{}
	filter  sync.WaitGroup
	closing sync.Once

	mu      sync.Mutex
	match   map[raft.ServerID]uint64
	changed chan struct{} // closed and replaced with every change of match
}

// newTransport returns a transport over network. It passes no calls of others before start.
func newTransport(network Network, address string, t Timeouts, logger *slog.Logger, raftLogger hclog.Logger) *transport {
	l := &layer{Network: network, address: address, dial: max(t.Election/2, minTimeout), conns: make(map[*layerConn]struct{}),
		others: strangers{logger: logger, seen: make(map[string]string)}}
	return &transport{
		NetworkTransport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
			Stream: l, MaxPool: 3, MaxRPCsInFlight: 1, Timeout: max(2*time.Second, 4*t.Election), Logger: raftLogger,
		}),
		rpcs: make(chan raft.RPC), stop: make(chan struct{}),
		match: make(map[raft.ServerID]uint64), changed: make(chan struct{}),
	}
}

// start starts the goroutine that looks at incoming calls; Close ends it.
func (t *transport) start() { t.filter.Go(t.look) }

// Consumer returns the calls of other members.
func (t *transport) Consumer() <-chan raft.RPC { return t.rpcs }

// look passes calls on, but for those that raft would end the process for.
func (t *transport) look() {
	for {
		select {
		case rpc := <-t.NetworkTransport.Consumer():
			if err := check(rpc); err != nil {
				t.filter.Go(func() { // the others do not wait for what this one sends, which ends with its connection
					if rpc.Reader != nil {
						_, _ = io.Copy(io.Discard, rpc.Reader) // else it would be taken for the next call
					}
					rpc.Respond(nil, err)
				})
				continue
			}
			clamp(rpc)
			select {
			case t.rpcs <- rpc:
			case <-t.stop:
				return
			}
		case <-t.stop:
			return
		}
	}
}

// check returns an error for a call whose configuration does not decode.
func check(rpc raft.RPC) error {
	switch c := rpc.Command.(type) {
	case *raft.AppendEntriesRequest:
		for _, e := range c.Entries {
			switch {
			case e == nil:
				return fmt.Errorf("missing entry")
			case e.Type == raft.LogConfiguration && !decodes(e.Data):
				return fmt.Errorf("configuration in entry %d does not decode", e.Index)
			case e.Type > raft.LogConfiguration || e.Type == raft.LogAddPeerDeprecated || e.Type == raft.LogRemovePeerDeprecated:
				return fmt.Errorf("entry %d is of type %d", e.Index, e.Type)
			}
		}
	case *raft.InstallSnapshotRequest:
		if c.SnapshotVersion < 1 || !decodes(c.Configuration) {
			return fmt.Errorf("configuration of snapshot %d does not decode", c.LastLogIndex)
		}
	}
	return nil
}

// clamp takes back what a leader says is decided to the entries that its call has shown to be the same here. Raft takes all of
// this node's entries for decided up to that index, those too that the call says nothing about: a call that was made up before
// a pause, with few entries, and sent after it, with what is decided by then, would have a leader of before apply entries that nobody else has.
//
// Source: Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", USENIX ATC 2014, figure 2, AppendEntries, step 5.
func clamp(rpc raft.RPC) {
	if c, ok := rpc.Command.(*raft.AppendEntriesRequest); ok {
		c.LeaderCommitIndex = min(c.LeaderCommitIndex, c.PrevLogEntry+uint64(len(c.Entries)))
	}
}

func decodes(data []byte) (ok bool) {
	defer func() { ok = recover() == nil }()
	raft.DecodeConfiguration(data)
	return true
}

// AppendEntries sends entries to a member.
func (t *transport) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	err := t.NetworkTransport.AppendEntries(id, callee(id, target), args, resp)
	if err == nil && resp.Success && args.PrevLogEntry+uint64(len(args.Entries)) > 0 {
		t.reached(id, args.PrevLogEntry+uint64(len(args.Entries)))
	}
	return err
}

// InstallSnapshot sends a snapshot to a member.
func (t *transport) InstallSnapshot(id raft.ServerID, target raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	err := t.NetworkTransport.InstallSnapshot(id, callee(id, target), args, resp, data)
	if err == nil && resp.Success {
		t.reached(id, args.LastLogIndex)
	}
	return err
}

// AppendEntriesPipeline returns a way to send entries to a member without waiting for each answer, if there is one.
func (t *transport) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	return t.NetworkTransport.AppendEntriesPipeline(id, callee(id, target))
}

// RequestVote asks a member for its vote.
func (t *transport) RequestVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	return t.NetworkTransport.RequestVote(id, callee(id, target), args, resp)
}

// RequestPreVote asks a member whether it would vote.
func (t *transport) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return t.NetworkTransport.RequestPreVote(id, callee(id, target), args, resp)
}

// TimeoutNow asks a member to lead.
func (t *transport) TimeoutNow(id raft.ServerID, target raft.ServerAddress, args *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	return t.NetworkTransport.TimeoutNow(id, callee(id, target), args, resp)
}

func (t *transport) reached(id raft.ServerID, index uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.match[id] != index {
		t.match[id] = index
		close(t.changed)
		t.changed = make(chan struct{})
	}
}

// forget forgets what members have received: it may be from a time when this node led before, and be gone.
func (t *transport) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.match)
}

// progress returns the last entry that a member is known to have, and a channel that is closed when that changes.
func (t *transport) progress(id raft.ServerID) (uint64, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.match[id], t.changed
}

// Close closes the network and every connection, and waits for the goroutine.
func (t *transport) Close() error {
	err := t.NetworkTransport.Close()
	t.closing.Do(func() { close(t.stop) })
	t.filter.Wait()
	return err
}

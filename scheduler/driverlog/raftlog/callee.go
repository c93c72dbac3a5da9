package raftlog

import (
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"

	"github.com/hashicorp/raft"
)

// callee returns where a member is called: its id and its address. Raft dials addresses and keeps its connections by them; the id goes along, so that
// nobody else who answers there is taken for the member.
func callee(id raft.ServerID, address raft.ServerAddress) raft.ServerAddress {
	return raft.ServerAddress(string(id) + "@" + string(address))
}

// parts returns id and address again.
func parts(called raft.ServerAddress) (id, address string) {
	id, address, ok := strings.Cut(string(called), "@")
	if !ok {
		return "", string(called)
	}
	return id, address
}

// A known connection says which node is at its other end.
type known interface{ PeerID() string }

// A StrangerError says that another node answers at the address of a member: the member has lost its folder and was started on an empty one, or
// the address is another's now. It is not sent anything: what it votes and stores is not the member's, who may have promised otherwise.
type StrangerError struct {
	Member, Address string // who is called
	Node            string // who answers
}

// Error returns both nodes and what to do.
func (e *StrangerError) Error() string {
	return fmt.Sprintf("node %s answers at %s, the address of member %s: if that one has lost its folder, remove it and join the node", e.Node, e.Address, e.Member)
}

// strangers remembers who was found at the addresses of members, to tell it once.
type strangers struct {
	logger *slog.Logger

	mu   sync.Mutex
	seen map[string]string // node by member
}

// check returns a *StrangerError for a connection whose other end says that it is not the member.
func (s *strangers) check(conn net.Conn, id, address string) error {
	k, ok := conn.(known)
	if !ok || id == "" {
		return nil
	}
	node := k.PeerID()
	s.mu.Lock()
	defer s.mu.Unlock()
	if node == id {
		delete(s.seen, id)
		return nil
	}
	err := &StrangerError{Member: id, Address: address, Node: node}
	if s.seen[id] != node {
		s.seen[id] = node
		s.logger.Warn("driver log member is not who answers at its address", "err", err)
	}
	return err
}

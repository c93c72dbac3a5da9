package admin

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
)

const (
	id1 = "driver-1-0123456789abcdef"
	id2 = "driver-2-0123456789abcdef"
)

// fakeNode is a node that notes what it is asked.
type fakeNode struct {
	mu     sync.Mutex
	status Status
	asked  []string
	err    error                           // of every change
	work   func(ctx context.Context) error // done by every change, where it is not nil
}

func (n *fakeNode) Status() Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.status
}

func (n *fakeNode) note(ctx context.Context, format string, args ...any) error {
	n.mu.Lock()
	n.asked = append(n.asked, fmt.Sprintf(format, args...))
	work, err := n.work, n.err
	n.mu.Unlock()
	if work != nil {
		return work(ctx)
	}
	return err
}

func (n *fakeNode) Join(ctx context.Context, m Member) error {
	return n.note(ctx, "join %s %s %s %t", m.ID, m.Name, m.Address, m.Voter)
}

func (n *fakeNode) Remove(ctx context.Context, id string) error {
	return n.note(ctx, "remove %s", id)
}

func (n *fakeNode) Transfer(ctx context.Context, id string) error {
	return n.note(ctx, "transfer %s", id)
}

func (n *fakeNode) Snapshot(ctx context.Context) error { return n.note(ctx, "snapshot") }

func (n *fakeNode) was(t *testing.T, want ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Equal(n.asked, want) {
		t.Errorf("the node was asked to %q, want %q", n.asked, want)
	}
	n.asked = nil
}

func leading() *fakeNode { return &fakeNode{status: Status{ID: id1, Name: "driver-1", Role: Leader}} }

func following(address string) *fakeNode {
	n := &fakeNode{status: Status{ID: id2, Name: "driver-2", Role: "follower"}}
	if address != "" {
		n.status.Leader = Member{ID: id1, Name: "driver-1", Address: address, Voter: true}
	}
	return n
}

// served serves a node at an address of the network until the test ends.
func served(t *testing.T, network *linktest.Network, address string, s *Server) {
	t.Helper()
	l, err := network.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.Serve(ctx, l); err != nil {
			t.Errorf("Serve returns %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		all.Wait()
	})
}

func client(network *linktest.Network, followed *[]string) *Client {
	return &Client{
		Dial: func(ctx context.Context, address string) (net.Conn, error) { return network.DialContext(ctx, address) },
		Followed: func(address string, leader Member) {
			*followed = append(*followed, strings.Join([]string{address, leader.Address}, ">"))
		},
	}
}

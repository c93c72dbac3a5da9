package main

import (
	"context"
	"net"
	"strings"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
)

// A detour dials other addresses than it is told, so that there is something between the nodes that can be cut.
type detour map[string]string

// detours returns the network of a node; nil, which is TCP, where all ways are straight.
func detours(via string) link.Network {
	if via == "" {
		return nil
	}
	d := detour{}
	for pair := range strings.SplitSeq(via, ",") {
		other, dialled, _ := strings.Cut(pair, "=")
		d[other] = dialled
	}
	return d
}

// Listen listens on TCP.
func (d detour) Listen(address string) (net.Listener, error) { return net.Listen("tcp", address) }

// DialContext dials what stands between this node and an address.
func (d detour) DialContext(ctx context.Context, address string) (net.Conn, error) {
	if other, ok := d[address]; ok {
		address = other
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

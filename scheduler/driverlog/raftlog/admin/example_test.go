package admin_test

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
)

// node is a node that leads a cluster of its own.
type node struct{ status admin.Status }

func (n *node) Status() admin.Status { return n.status }
func (n *node) Join(_ context.Context, m admin.Member) error {
	n.status.Members = append(n.status.Members, m)
	return nil
}
func (n *node) Remove(_ context.Context, id string) error {
	return fmt.Errorf("%s is not a member", id)
}
func (n *node) Transfer(_ context.Context, _ string) error { return nil }
func (n *node) Snapshot(_ context.Context) error           { return nil }

// A node of a cluster of one takes another one in.
func Example() {
	l, err := link.Listen(link.Options{Name: "driver-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	dialer, err := link.NewDialer(link.Options{Name: "operator"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	asked := l.Protocol(link.Admin)
	var all sync.WaitGroup
	all.Go(func() { _ = l.Run(ctx) })
	all.Go(func() { _ = admin.Serve(ctx, asked, &node{admin.Status{Name: "driver-1", Role: admin.Leader}}) })

	client := &admin.Client{Dial: func(ctx context.Context, address string) (net.Conn, error) {
		return dialer.DialContext(ctx, link.Admin, address)
	}}
	at := l.Addr().String()
	if err := client.Join(ctx, at, admin.Member{ID: "driver-2-0123456789abcdef", Address: "127.0.0.1:7001"}); err != nil {
		fmt.Println(err)
	}
	status, err := client.Status(ctx, at)
	fmt.Println(status.Name, status.Role, status.Members[0], err)
	err = client.Remove(ctx, at, "driver-3-0123456789abcdef")
	fmt.Println(err != nil)
	cancel()
	all.Wait()
	// Output:
	// driver-1 leader driver-2-0123456789abcdef at 127.0.0.1:7001 <nil>
	// true
}

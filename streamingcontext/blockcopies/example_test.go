package blockcopies_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/blockcopies"
)

// Two drivers have copies. The first is lost with its disk, and the second has what it acknowledged. Contexts call Lead and the methods of the
// log themselves, where Options.Blocks is given.
func Example() {
	root, err := os.MkdirTemp("", "copies")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var network linktest.Network // of this process; else link has sockets
	members := []blockcopies.Member{{ID: "one-0123456789abcdef", Address: "one"}, {ID: "two-0123456789abcdef", Address: "two"}}
	start := func(name string) *blockcopies.Copies {
		id := name + "-0123456789abcdef" // as raftlog.Log has it
		l, err := link.Listen(link.Options{Address: name, Name: name, ID: id, Network: &network, Cluster: func() string { return "0123456789abcdef0123456789abcdef" }})
		if err != nil {
			panic(err)
		}
		c, err := blockcopies.New(l.Protocol("blocks"), filepath.Join(root, name), blockcopies.Options{ID: id, Members: func() []blockcopies.Member { return members }})
		if err != nil {
			panic(err)
		}
		running.Go(func() { _ = l.Run(ctx) })
		running.Go(func() { _ = c.Run(ctx) })
		return c
	}
	one, two := start("one"), start("two")

	log, err := one.Lead(ctx, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"to be", "or not"} {
		if _, err := log.Append(ctx, 0, []byte(text), nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := one.Close(); err != nil {
		fmt.Println(err)
	}
	_ = os.RemoveAll(filepath.Join(root, "one"))

	log, err = two.Lead(ctx, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = log.Scan(ctx, func(e streamingcontext.BlockEntry) error {
		data, err := log.Read(e.Address)
		fmt.Printf("epoch %d: %s\n", e.Address.Epoch, data)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	if err := two.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// epoch 1: to be
	// epoch 1: or not
}

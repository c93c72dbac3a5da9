package link_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
)

// Two nodes of a network in memory; one greets whoever asks for its protocol.
func Example() {
	network := new(linktest.Network)
	cluster := func() string { return "00112233445566778899aabbccddeeff" }
	one, err := link.Listen(link.Options{Address: "10.0.0.1:7000", Name: "driver-1", Cluster: cluster, Network: network})
	if err != nil {
		fmt.Println(err)
		return
	}
	two, err := link.Listen(link.Options{Address: "10.0.0.2:7000", Name: "driver-2", Cluster: cluster, Network: network})
	if err != nil {
		fmt.Println(err)
		return
	}
	greetings := one.Protocol("greetings")
	var all sync.WaitGroup
	all.Go(func() { _ = one.Run(context.Background()) })
	all.Go(func() {
		for {
			c, err := greetings.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(c, "hello, %s", c.(*link.Conn).Peer().Name)
			_ = c.Close()
		}
	})
	c, err := two.Protocol("greetings").Dial("10.0.0.1:7000", time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := io.ReadAll(c)
	fmt.Printf("%s\n", text)

	_, err = two.Protocol("farewells").Dial("10.0.0.1:7000", time.Second)
	fmt.Println(err != nil)
	_, _, _, _ = c.Close(), one.Close(), two.Close(), err
	all.Wait()
	// Output:
	// hello, driver-2
	// true
}
